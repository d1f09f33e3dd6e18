// How ddprun --hosts starts a job, and who takes part in it.
#include "tests/integration/hosts/stand_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "rendezvous/base/read_file.h"
#include "rendezvous/base/version.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// 40 hosts need a tree: 32 branches, eight of them with a host of their own.
TEST_F(StandIn, ReachesMoreHostsThanOneShouldHoldConnectionsTo) {
  set("echo $host >> " + folder_.path() + "/by.$PPID");
  const Finished end =
      job("127.0.1.[1-40]:1", {"-q"}, {"sh", "-c", "echo rank $RANK of $WORLD_SIZE"});
  EXPECT_EQ(end.code, 0) << end.err;
  auto got = lines(end.out);
  ASSERT_EQ(got.size(), 40u) << end.out << end.err;
  for (int rank = 0; rank < 40; ++rank)
    EXPECT_THAT(got, testing::Contains("[127.0.1." + std::to_string(rank + 1) + "] rank " +
                                       std::to_string(rank) + " of 40"));
  std::vector<int> started;  // by each that has started any
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    if (entry.path().filename().string().starts_with("by."))
      started.push_back(count_of("\n", *read_file(entry.path())));
  EXPECT_THAT(started, testing::UnorderedElementsAre(32, 1, 1, 1, 1, 1, 1, 1, 1));
}

TEST_F(StandIn, NamesAllHostsThatCannotTakePartAtOnce) {
  set("case $host in *.2) echo 'Permission denied (publickey).' >&2; exit 255;; *.4) exit 127;; "
      "esac");
  const Finished end = job("127.0.0.[2-5]:1", {}, {"sh", "-c", "echo started"});
  EXPECT_EQ(end.code, 125);
  EXPECT_EQ(end.out, "");
  EXPECT_THAT(end.err, AllOf(HasSubstr("ddprun: host 127.0.0.2: Permission denied (publickey); "),
                             HasSubstr("ddprun: host 127.0.0.4: there is no ddprun"),
                             HasSubstr("2 of 4 hosts cannot take part, so nothing was started"),
                             Not(HasSubstr("127.0.0.3"))));
}

// A login script that waits for somebody to type, as at a prompt for a password.
TEST_F(StandIn, WaitsForNobodyForEver) {
  set("[ $host = 127.0.0.3 ] && exec sleep 1000");
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {"--rdzv-conf", "join_timeout=1"}, {"true"});
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("host 127.0.0.3: no answer within 1 s"));
  EXPECT_LT(end.took, seconds(20));
}

// It runs there, but its orders do not get through.
TEST_F(StandIn, WaitsForNobodyForEverWhoHasGreeted) {
  set("[ $host = 127.0.0.3 ] && { sleep 5 | sh -c \"$1\"; exit; }");
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {"--rdzv-conf", "join_timeout=1"}, {"true"});
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("host 127.0.0.3: no answer within 1 s of the ddprun that runs"));
}

TEST_F(StandIn, NamesAHostThatGetsNoOrders) {
  for (const char* none : {"{ : | sh -c \"$1\"; exit; }", "exec < /dev/null"}) {
    set(std::string("[ $host = 127.0.0.3 ] && ") + none);
    const Finished end = job("127.0.0.2:1,127.0.0.3:1", {}, {"true"});
    EXPECT_EQ(end.code, 125);
    EXPECT_THAT(end.err,
                AllOf(HasSubstr("host 127.0.0.3: ddprun was started there, and ended before"),
                      HasSubstr("nothing was started"), Not(HasSubstr("workers are"))));
  }
}

TEST_F(StandIn, HearsDdprunBehindWhatLoginScriptsSay) {
  set("echo Welcome to $host; printf 'no newline'; echo motd >&2");
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {"-q"}, {"echo", "hi"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), testing::UnorderedElementsAre("[127.0.0.2] hi", "[127.0.0.3] hi"));
}

// The first host of a branch that answers takes the place of one that does not.
TEST_F(StandIn, NamesOnlyThoseWhoAreMissingInATree) {
  set("case $host in *.1|*.3|*.40) exit 127;; esac");
  const Finished end = job("127.0.1.[1-40]:1", {}, {"true"});
  EXPECT_EQ(end.code, 125);
  EXPECT_EQ(count_of("there is no ddprun", end.err), 3) << end.err;
  EXPECT_THAT(end.err, HasSubstr("3 of 40 hosts cannot take part"));
}

TEST_F(StandIn, SaysOnceThatAProgramIsMissing) {
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {}, {"/no/such/program"});
  EXPECT_EQ(end.code, 127);
  EXPECT_EQ(count_of("/no/such/program", end.err), 1) << end.err;
}

TEST_F(StandIn, NamesTheHostThatLacksTheProgram) {
  std::filesystem::create_directory(folder_.path() + "/bin");
  std::filesystem::create_symlink("/bin/true", folder_.path() + "/bin/only-there");
  set("[ $host = 127.0.0.3 ] || export PATH=$PATH:'" + folder_.path() + "/bin'");
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {"-q"}, {"only-there"});
  EXPECT_EQ(end.code, 127) << end.err;
  EXPECT_THAT(end.err, HasSubstr("ddprun: host 127.0.0.3: cannot start 'only-there'"));
}

TEST_F(StandIn, RefusesAHostThatHasNotTheFolder) {
  TemporaryFolder gone;
  std::filesystem::create_directory(gone.path() + "/here");
  set("[ $host = 127.0.0.3 ] && mv '" + gone.path() + "/here' '" + gone.path() + "/away'");
  std::string line = "cd '" + gone.path() + "/here' && exec";
  for (const std::string& word : ddprun_words(words("127.0.0.3:1,127.0.0.2:1", {}, {"true"})))
    line += " '" + word + "'";
  const Finished end = run_shell(line, {.limit = seconds(60)});
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("host 127.0.0.3: the job runs in '" + gone.path() +
                                 "/here', which cannot be entered there: No such file"));
}

// A copy of this ddprun in which the version is another one.
TEST_F(StandIn, NamesBothVersionsWhereTheyDiffer) {
  const std::string here(version());
  std::string there = here;
  there.back() = there.back() == '9' ? '8' : '9';
  std::string program = *read_file(ddprun_words({}).front());
  for (auto at = program.find(here); at != std::string::npos; at = program.find(here, at + 1))
    program.replace(at, here.size(), there);
  const std::string file = folder_.path() + "/other";
  std::ofstream(file, std::ios::binary) << program;
  ::chmod(file.c_str(), 0755);
  set("[ $host = 127.0.0.3 ] && exec '" + file + "' --started-by-hosts");
  const Finished end = job("127.0.0.[2-4]:1", {}, {"touch", folder_.path() + "/started"});
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, AllOf(HasSubstr("ddprun: host 127.0.0.3: its ddprun is version " + there +
                                       ", the one here " + here + "; install the same"),
                             HasSubstr("1 of 3 hosts cannot take part, so nothing was started")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/started"));
}

TEST_F(StandIn, NeedsNoShellForThisHost) {
  set("exit 1");
  const Finished end = job("localhost:2", {"-q"}, {"sh", "-c", "echo $RANK"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), testing::UnorderedElementsAre("[localhost] 0", "[localhost] 1"));
}

TEST_F(StandIn, MixesThisHostWithOthers) {
  const Finished end = job("localhost:1,127.0.0.2:1", {"-q"}, {"sh", "-c", "echo $RANK"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), testing::UnorderedElementsAre("[localhost] 0", "[127.0.0.2] 1"));
}

TEST_F(StandIn, WritesAReportForEachHost) {
  const std::string report = folder_.path() + "/r.json";
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {"--report", report}, {"true"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_TRUE(std::filesystem::exists(report));
  EXPECT_TRUE(std::filesystem::exists(report + ".127.0.0.3"));
}

TEST_F(StandIn, RestartsOnAllHosts) {
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {"--max-restarts", "1"},
                           {"sh", "-c",
                            "echo $RANK.$TORCHELASTIC_RESTART_COUNT; [ $RANK = 0 ] || exit "
                            "$((1 - TORCHELASTIC_RESTART_COUNT))"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, AllOf(HasSubstr("[127.0.0.2] 0.1"), HasSubstr("[127.0.0.3] 1.1")));
  EXPECT_EQ(count_of("restart 1 of 1", end.err), 1) << end.err;
  EXPECT_EQ(count_of("ended with 0, after 1 restart\n", end.err), 1) << end.err;
}

TEST_F(StandIn, MeetsWhereTheUserSays) {
  const std::string port = std::to_string(LoopbackPort().number());
  const std::vector<Words> places{{"--master-port", port},
                                  {"--master-port", "0"},
                                  {"--master-addr", "127.0.0.3", "--master-port", port},
                                  {"--rdzv-endpoint", "127.0.0.2:" + port}};
  for (Words options : places) {
    const bool any = options.back() == "0";
    options.insert(options.end(), {"-q", "--prefix="});
    const Finished end = job("127.0.0.2:1,127.0.0.3:1", options, {"sh", "-c", "echo $MASTER_PORT"});
    EXPECT_EQ(end.code, 0) << options[0] << " " << options[1] << "\n" << end.err;
    const auto ports = lines(end.out);
    ASSERT_EQ(ports.size(), 2u) << end.out;
    EXPECT_EQ(ports[0], ports[1]);
    EXPECT_TRUE(any || ports[0] == port) << ports[0];
  }
}

TEST_F(StandIn, RefusesAPortThatNobodyCouldKnow) {
  for (const Words& options : {Words{"--rdzv-endpoint", "127.0.0.2:0"},
                               Words{"--master-addr", "127.0.0.2", "--master-port", "0"}}) {
    const Finished end = job("127.0.0.2:1,127.0.0.3:1", options, {"true"});
    EXPECT_EQ(end.code, 2) << end.err;
    EXPECT_THAT(end.err, HasSubstr("port 0 lets the system choose"));
  }
}

}  // namespace
}  // namespace ddprun::test
