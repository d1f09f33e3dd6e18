// Options whose values have a form of their own: maps of ranks, templates, signals, commands.
#include <gmock/gmock.h>

#include <csignal>

#include "launcher/cli/line_texts.h"
#include "launcher/cli/shell_words.h"
#include "launcher/cli/signal_list.h"
#include "tests/unit/cli/parsing.h"

namespace ddprun::cli {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int bits(const StreamMap& map, int local_rank) {
  const Streams streams = map.of(local_rank);
  return (streams.out ? 1 : 0) + (streams.err ? 2 : 0);
}

TEST(StreamMapOption, IsOneNumberForAll) {
  for (int number = 0; number <= 3; ++number) {
    const JobSpec job = job_of({"-r", std::to_string(number), "p"});
    EXPECT_EQ(bits(job.redirects, 0), number);
    EXPECT_EQ(bits(job.redirects, 4711), number);
    EXPECT_EQ(bits(job.tee, 0), 0);
  }
  EXPECT_EQ(bits(job_of({"-t3", "p"}).tee, 5), 3);
}

TEST(StreamMapOption, IsAMapOverAnyRanks) {
  const StreamMap map = job_of({"--tee", "0-7:3,12:2,*:1,10:0,12:0", "p"}).tee;
  EXPECT_EQ(bits(map, 0), 3);
  EXPECT_EQ(bits(map, 7), 3);
  EXPECT_EQ(bits(map, 8), 1);
  EXPECT_EQ(bits(map, 10), 0) << "an exact entry beats *, wherever it stands";
  EXPECT_EQ(bits(map, 12), 0) << "the last exact entry counts";
  EXPECT_EQ(bits(map, 100'000), 1);
  EXPECT_EQ(bits(job_of({"--tee", "1:3", "p"}).tee, 0), 0);
}

TEST(StreamMapOption, RefusesWhatIsNone) {
  for (const char* text :
       {"4", "-1", "33", "x", "0:3,1", "0:4", ":3", "0:", "0:3,", ",0:3", "3-1:3", "a:3", "0:3;1:3",
        "0-:3", "-3:1", "0..3", "99999999999:1", "1 :3"}) {
    EXPECT_EQ(error_of({"--tee", text, "p"}),
              "ddprun: --tee: '" + std::string(text) +
                  "' does not say which streams; write 0 (none), 1 (stdout), 2 (stderr) or 3 "
                  "(both), or a map of local ranks such as 0-7:3,*:1");
  }
}

TEST(RankSetOption, TakesListsRangesAndAll) {
  const RankSet some = *job_of({"--local-ranks-filter", "0,2,4-7", "p"}).console_ranks;
  for (const int rank : {0, 2, 4, 7}) EXPECT_TRUE(some.contains(rank)) << rank;
  for (const int rank : {1, 3, 8}) EXPECT_FALSE(some.contains(rank)) << rank;
  EXPECT_TRUE(job_of({"--local-ranks-filter=*", "p"}).console_ranks->contains(99));
  EXPECT_EQ(error_of({"--local-ranks-filter=0,x", "p"}),
            "ddprun: --local-ranks-filter: '0,x': 'x' is not a rank, a range such as 0-7, or *; "
            "write a list such as 0,2,4-7");
  for (const char* text : {"", "0,", "-1", "7-4", "0;1", "0 1"})
    EXPECT_THAT(error_of({"--local-ranks-filter", text, "p"}), HasSubstr("--local-ranks-filter: "));
}

TEST(PrefixOption, TakesAllItsFields) {
  const std::string all = "${rank}${local_rank}${role_name}${hostname}${attempt}${stream}${time}";
  for (const std::string& text :
       {all, std::string("$rank $$x $5 $"), std::string(), std::string("${")})
    EXPECT_EQ(job_of({"--log-line-prefix-template", text, "p"}).prefix, text);
  EXPECT_EQ(job_of({"p"}).prefix, std::nullopt);
}

TEST(PrefixOption, NamesAFieldThatIsNone) {
  EXPECT_EQ(error_of({"--prefix", "[${host}] ", "p"}),
            "ddprun: --log-line-prefix-template: '${host}' is not a field; did you mean "
            "${hostname}? There are ${rank} ${local_rank} ${role_name} ${hostname} ${attempt} "
            "${stream} ${time}");
  EXPECT_THAT(error_of({"--prefix", "$qqqqqq", "p"}),
              HasSubstr("'${qqqqqq}' is not a field; there are ${rank} "));
  EXPECT_THAT(error_of({"--prefix", "${}", "p"}), HasSubstr("'${}' is not a field"));
}

TEST(FilterOptions, ADoubledCommaIsOne) {
  EXPECT_THAT(job_of({"--duplicate-stdout-filters", "out,,x,err", "p"}).duplicate_stdout_filters,
              ElementsAre("out,x", "err"));
  const JobSpec job = job_of({"--duplicate_stderr_filters=a b,$(c),--tee", "p"});
  EXPECT_THAT(job.duplicate_stderr_filters, ElementsAre("a b", "$(c)", "--tee"));
  EXPECT_THAT(job.duplicate_stdout_filters, IsEmpty());
  EXPECT_THAT(read_filters(",,,a,"), ElementsAre(",", "a"));
  EXPECT_THAT(read_filters(""), IsEmpty());
}

TEST(SignalOption, TakesNamesInAnyFormAndNumbers) {
  EXPECT_THAT(
      job_of({"--signals-to-handle", "SIGTERM, int,Usr1,12,SIGTERM", "p"}).signals_to_handle,
      ElementsAre(SIGTERM, SIGINT, SIGUSR1, SIGUSR2));
  EXPECT_THAT(job_of({"--signals-to-handle=SIGRTMIN,64", "p"}).signals_to_handle,
              ElementsAre(SIGRTMIN, 64));
  EXPECT_EQ(signal_list_text({SIGTERM, SIGUSR2, SIGRTMIN}), "SIGTERM,SIGUSR2,34");
}

TEST(SignalOption, NamesWhatIsNone) {
  const auto of = [](const std::string& text) {
    return error_of({"--signals-to-handle=" + text, "p"});
  };
  EXPECT_EQ(of("SIGTERM,SIGUSR"),
            "ddprun: --signals-to-handle: 'SIGUSR' is not a signal; did you mean SIGUSR1?");
  EXPECT_THAT(of("trem"), HasSubstr("'trem' is not a signal; did you mean SIGTERM?"));
  EXPECT_THAT(of("0"), HasSubstr("'0' is not a signal; write a list such as SIGTERM,"));
  for (const char* number : {"65", "-1", "32", "33"})
    EXPECT_THAT(of(number), HasSubstr("is not a"));
  EXPECT_THAT(of("SIGTERM,,SIGINT"), HasSubstr("has an empty name in it"));
  EXPECT_THAT(of("KILL"), HasSubstr("'KILL' cannot be caught by any program"));
  EXPECT_THAT(of("17"), HasSubstr("'17' is needed by ddprun itself"));
  EXPECT_THAT(of("SIGSEGV"), HasSubstr("reports a fault of ddprun itself"));
}

TEST(WrapOption, SplitsItsCommandAndAccumulates) {
  const JobSpec job =
      job_of({"--wrap", "2:gdb --args", "--wrap=0-1,5:sh -c 'a \"b\"' \"c\\\"\\d\" e\\ f ''", "p"});
  ASSERT_EQ(job.wraps.size(), 2u);
  EXPECT_TRUE(job.wraps[0].ranks.contains(2));
  EXPECT_FALSE(job.wraps[0].ranks.contains(0));
  EXPECT_THAT(job.wraps[0].words, ElementsAre("gdb", "--args"));
  EXPECT_TRUE(job.wraps[1].ranks.contains(5));
  EXPECT_THAT(job.wraps[1].words, ElementsAre("sh", "-c", "a \"b\"", "c\"\\d", "e f", ""));
  const JobSpec all = job_of({"p"}, {"PET_WRAP=*:perf record -o perf.%r"});
  ASSERT_EQ(all.wraps.size(), 1u);
  EXPECT_TRUE(all.wraps[0].ranks.contains(12345));
  EXPECT_EQ(all.wraps[0].words.back(), "perf.%r");
  EXPECT_EQ(job_of({"--wrap=0:a", "p"}, {"PET_WRAP=0:b"}).wraps.size(), 1u);
}

TEST(WrapOption, SaysWhatIsMissing) {
  const auto of = [](const std::string& text) { return error_of({"--wrap=" + text, "p"}); };
  EXPECT_THAT(of("gdb"), HasSubstr("'gdb' has no ranks; write RANKS:COMMAND"));
  EXPECT_THAT(of("0:"), HasSubstr("'0:' has no command"));
  EXPECT_THAT(of("x:gdb"), HasSubstr("'x' is not a rank"));
  EXPECT_THAT(of("0:a 'b"), HasSubstr("the quote ' is not closed"));
  EXPECT_THAT(of("0:a \"b\\\""), HasSubstr("the quote \" is not closed"));
  EXPECT_THAT(of("0:a \\"), HasSubstr("nothing is behind the backslash"));
  EXPECT_THAT(of(""), HasSubstr("has no ranks"));
}

TEST(ShellWords, BlanksOnlyAreNoWords) {
  EXPECT_THAT(*split_words(" \t\n "), IsEmpty());
  EXPECT_THAT(*split_words("  a\tb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(*split_words("a'b'\"c\"d"), ElementsAre("abcd"));
  EXPECT_THAT(*split_words("$x *;|&"), ElementsAre("$x", "*;|&"));
  EXPECT_THAT(*split_words("\"\\$\\`\\n\""), ElementsAre("$`\\n"));
}

TEST(LimitOptions, AreSecondsWithFractions) {
  const JobSpec job = job_of({"--timeout=2592000", "--exit-grace", "0", "--progress-timeout=1.5",
                              "--restart-backoff=0", "--max-restarts=3", "p"});
  EXPECT_EQ(job.timeout, std::chrono::hours(24 * 30));
  EXPECT_EQ(job.exit_grace, milliseconds(0));
  EXPECT_EQ(job.progress_timeout, milliseconds(1500));
  EXPECT_EQ(job.restart_backoff, milliseconds(0));
  EXPECT_EQ(job.max_restarts, 3);
  EXPECT_EQ(job_of({"--timeout=0", "p"}, {"PET_TIMEOUT=5"}).timeout, std::nullopt);
  EXPECT_EQ(job_of({"--progress-timeout=0", "p"}).progress_timeout, std::nullopt);
  EXPECT_EQ(job_of({"p"}).exit_grace, std::nullopt);
  EXPECT_EQ(error_of({"--timeout=31536001", "p"}),
            "ddprun: --timeout: '31536001' is not a time in seconds; write 0 to 31536000, "
            "fractions are allowed");
}

TEST(ChoiceOptions, TakeTheirWords) {
  EXPECT_EQ(job_of({"--bind=core-complex", "p"}).bind, BindMode::core_complex);
  EXPECT_EQ(job_of({"--numa-binding", "node", "p"}).bind, BindMode::node);
  EXPECT_EQ(job_of({"--numa_binding=exclusive", "--bind=cores", "p"}).bind, BindMode::cores);
  EXPECT_EQ(job_of({"--numa-b=socket", "p"}).bind, BindMode::socket) << "torchrun's abbreviation";
  EXPECT_EQ(job_of({"--output=pty", "p"}).output, OutputMode::pty);
  EXPECT_EQ(job_of({"--color=never", "p"}).color, ColorChoice::never);
  EXPECT_EQ(job_of({"--threads=4", "p"}).threads.number, 4);
  EXPECT_EQ(job_of({"--threads=auto", "p"}).threads.kind, ThreadCount::Kind::automatic);
  EXPECT_EQ(job_of({"--stdin=3", "p"}).stdin_rank, 3);
  EXPECT_EQ(job_of({"--stdin=none", "p"}, {"PET_STDIN=3"}).stdin_rank, std::nullopt);
  EXPECT_EQ(error_of({"--output=ptty", "p"}),
            "ddprun: --output: 'ptty' is not one of auto, pty, pipe and inherit; did you mean "
            "pty?");
  EXPECT_THAT(error_of({"--bind=gpu", "p"}), HasSubstr("'gpu' is not one of none, node, socket, "));
  EXPECT_THAT(error_of({"--threads=0", "p"}), HasSubstr("write 1 to 16384, or auto"));
  EXPECT_THAT(error_of({"--stdin=-1", "p"}), HasSubstr("write 0 to 1048575, or none"));
}

TEST(FlagAndTextOptions, AreTakenAsTheyAre) {
  const JobSpec job =
      job_of({"--virtual-local-rank", "--report-bindings", "--keep-descendants", "--line-buffer",
              "--chdir=a b", "--log-dir", "logs/x", "--report=-", "--events", "e.jsonl", "p"});
  EXPECT_TRUE(job.virtual_local_rank && job.report_bindings && job.keep_descendants &&
              job.line_buffer);
  EXPECT_EQ(job.chdir, "a b");
  EXPECT_EQ(job.log_dir, "logs/x");
  EXPECT_EQ(job.report, "-");
  EXPECT_EQ(job.events, "e.jsonl");
}

}  // namespace
}  // namespace ddprun::cli
