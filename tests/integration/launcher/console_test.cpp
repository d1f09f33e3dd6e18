// What lines look like on the console: prefixes, colour, progress bars, and what a worker's own
// streams are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::UnorderedElementsAre;

const std::string kWorker = DDPRUN_TEST_WORKER;

// ddprun with `words` and a script for the shell, as one command line.
std::string command(const std::vector<std::string>& words, const std::string& script) {
  std::string text;
  for (const std::string& word : ddprun_words(words)) text += "'" + word + "' ";
  return text + "sh -c '" + script + "'";
}

// The same on a terminal of 80 columns.
Finished on_terminal(const std::vector<std::string>& words, const std::string& script,
                     std::vector<std::string> environment = {"NO_COLOR=1", "TERM=xterm"}) {
  return run({"/usr/bin/script", "-qec", "stty -onlcr; " + command(words, script), "/dev/null"},
             {.environment = std::move(environment)});
}

// What a terminal shows in the end of text with '\r' and "clear to the end of the line".
std::vector<std::string> screen(const std::string& text) {
  const std::string clear = "\x1b[K";
  std::vector<std::string> rows{""};
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, clear.size(), clear) == 0) {
      rows.back().resize(column);
      at += clear.size() - 1;
    } else if (text[at] == '\r') {
      column = 0;
    } else if (text[at] == '\n') {
      rows.emplace_back();
      column = 0;
    } else {
      rows.back().resize(std::max(rows.back().size(), column + 1));
      rows.back()[column++] = text[at];
    }
  }
  if (rows.back().empty()) rows.pop_back();
  return rows;
}

TEST(ConsoleTest, ATemplateIsFilledInForEachLine) {
  const Finished end =
      ddprun({"-q", "-n", "2", "--role", "trainer", "--prefix",
              "${role_name}/${rank}/${local_rank}/${attempt}/${stream}/${hostname}: ", "sh", "-c",
              "echo out; [ $RANK = 0 ] || echo err >&2"});
  EXPECT_THAT(lines(end.out),
              UnorderedElementsAre(MatchesRegex("trainer/0/0/0/stdout/[^/:$]+: out"),
                                   MatchesRegex("trainer/1/1/0/stdout/[^/:$]+: out")));
  EXPECT_THAT(end.err, MatchesRegex("trainer/1/1/0/stderr/[^/:$]+: err\n"));
}

TEST(ConsoleTest, TheTemplateOfTorchrunsVariableIsUsedWhereLinesHaveAPrefixAnyway) {
  const RunOptions with{.environment = {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE=<${rank}>"}};
  EXPECT_EQ(ddprun({"-q", "echo", "{}"}, with).out, "{}\n");
  EXPECT_EQ(ddprun({"-q", "-t", "1", "--log-dir", "/dev/null", "echo", "{}"}, with).out, "<0>{}\n");
}

TEST(ConsoleTest, TheTimeIsThatOfTheLine) {
  const Finished end = ddprun({"-q", "--prefix", "${time} ", "echo", "x"});
  EXPECT_THAT(end.out, MatchesRegex("[0-9][0-9]:[0-9][0-9]:[0-9][0-9][.][0-9][0-9][0-9] x\n"));
}

TEST(ConsoleTest, AnEmptyTemplateIsNoPrefix) {
  EXPECT_THAT(on_terminal({"-q", "-n", "2", "--prefix", ""}, "echo hello").out, "hello\nhello\n");
}

TEST(ConsoleTest, ColourFollowsTheTerminalAndTheOption) {
  const std::string colored = "\x1b[36m[0]\x1b[0m x\n";
  const std::vector<std::string> job{"-q", "-n", "2", "--local-ranks-filter", "0"};
  const auto with = [&](const std::string& choice) {
    auto words = job;
    words.insert(words.end(), {"--color", choice});
    return words;
  };
  EXPECT_EQ(on_terminal(job, "echo x", {"TERM=xterm"}).out, colored);
  EXPECT_EQ(on_terminal(job, "echo x", {"TERM=xterm", "NO_COLOR=1"}).out, "[0] x\n");
  EXPECT_EQ(on_terminal(with("never"), "echo x", {"TERM=xterm"}).out, "[0] x\n");
  EXPECT_EQ(ddprun({"-q", "--color", "always", "--prefix", "[${rank}] ", "echo", "x"}).out,
            colored);
}

TEST(ConsoleTest, BarsOfSeveralWorkersEndAsWholeLines) {
  const Finished end =
      on_terminal({"-q", "-n", "3"}, "printf \"\\r 10%%\"; printf \"\\r100%%\\nrank $RANK\\n\"");
  EXPECT_THAT(screen(end.out), UnorderedElementsAre("[0] 100%", "[1] 100%", "[2] 100%",
                                                    "[0] rank 0", "[1] rank 1", "[2] rank 2"));
}

TEST(ConsoleTest, ABarIsShownBeforeItsLineEnds) {
  TemporaryFolder folder;
  const std::string fifo = folder.make_fifo("go");
  Program program({"/usr/bin/script", "-qec",
                   "stty -onlcr; " + command({"-q", "-n", "2"},
                                             "[ $RANK = 1 ] && exit; printf \"\\r 10%%\"; cat " +
                                                 fifo + "; printf \"\\r 99%%\\n\""),
                   "/dev/null"},
                  {.environment = {"NO_COLOR=1", "TERM=xterm"}});
  EXPECT_TRUE(program.wait_for_output("[0]  10%"));
  run_shell(": > " + fifo);
  EXPECT_THAT(screen(program.finish().out), ElementsAre("[0]  99%"));
}

TEST(ConsoleTest, BarsIntoAPipeKeepAllTheirBytes) {
  EXPECT_EQ(ddprun({"-q", "sh", "-c", R"(printf '\r1%%\r2%%\n')"}).out, "\r1%\r2%\n");
}

TEST(ConsoleTest, AWorkerHasTheKindOfStreamThatWasAskedFor) {
  const std::string ask = "[ -t 1 ] && echo terminal || echo pipe";
  EXPECT_EQ(ddprun({"-q", "--output", "pty", "sh", "-c", ask}).out, "terminal\n");
  EXPECT_EQ(on_terminal({"-q", "--output", "pipe"}, ask).out, "pipe\n");
}

TEST(ConsoleTest, InheritHandsOnDdprunsOwnStreams) {
  const Finished end =
      run_shell("readlink /proc/self/fd/1; exec " +
                command({"-q", "--output", "inherit"}, "readlink /proc/self/fd/1"));
  ASSERT_EQ(lines(end.out).size(), 2U);
  EXPECT_EQ(lines(end.out)[0], lines(end.out)[1]);
}

TEST(ConsoleTest, InheritedOutputIsNotInTheReportWhichSaysSo) {
  const Finished end = ddprun({"--output", "inherit", "sh", "-c", "echo text; exit 3"});
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.out, "text\n");
  EXPECT_THAT(end.err, AllOf(HasSubstr("its output was not captured (--output inherit)"),
                             Not(HasSubstr("| text"))));
}

TEST(ConsoleTest, LineBufferSavesTheLinesOfAProgramThatAborts) {
  EXPECT_EQ(ddprun({"-q", kWorker, "abort", "last words"}).out, "");
  EXPECT_EQ(ddprun({"-q", "--line-buffer", kWorker, "abort", "last words"}).out, "last words\n");
}

TEST(ConsoleTest, LineBufferKeepsALibraryThatIsPreloadedAlready) {
  const Finished end = ddprun({"-q", "--line-buffer", "sh", "-c", "echo $LD_PRELOAD"},
                              {.environment = {"LD_PRELOAD=libc.so.6"}});
  EXPECT_THAT(end.out, MatchesRegex("libc.so.6:/.*/libstdbuf.so\n"));
}

TEST(ConsoleTest, AReaderThatGoesIsSaidOnceAndTheJobGoesOn) {
  const Finished end =
      run_shell("{ " + command({"-n", "2"}, "seq 50000; exit 6") + "; echo $? >&2; } | head -1");
  EXPECT_EQ(end.out, "1\n");
  const auto said = lines(end.err);
  EXPECT_EQ(std::count(said.begin(), said.end(),
                       "ddprun: nobody reads stdout any more; what follows is not shown, the job "
                       "goes on"),
            1)
      << end.err;
  EXPECT_EQ(said.back(), "6");
}

}  // namespace
}  // namespace ddprun::test
