// ddprun --hosts with a program in the place of ssh, which starts the command on this host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "launcher/process/children.h"
#include "rendezvous/base/read_file.h"
#include "tests/integration/support/loopback_port.h"
#include "tests/integration/support/run.h"
#include "tests/integration/support/terminal.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Words = std::vector<std::string>;
using std::chrono::seconds;

// Shells that run the script of a worker, not the ddpruns that have it among their words.
std::vector<pid_t> workers_of(const std::string& marker) {
  std::vector<pid_t> found;
  for (const pid_t pid : pids_with(marker))
    if (read_file("/proc/" + std::to_string(pid) + "/comm") == "sh\n" &&
        read_file("/proc/" + std::to_string(pid) + "/cmdline")->starts_with("sh"))
      found.push_back(pid);
  return found;
}

// Waits at most `limit` until there is none any more.
bool no_worker_of(const std::string& marker, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!workers_of(marker).empty()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 5);  // there is no event for the end of a process that is not my child
  }
  return true;
}

class StandIn : public testing::Test {
 protected:
  // What stands before the start of the command; $host is the host, "$@" the command.
  explicit StandIn(const std::string& script = "") { set(script); }

  void set(const std::string& script) {
    const std::string file = rsh();
    std::ofstream(file) << "#!/bin/sh\nhost=$1; shift\n"
                        << script << "\nexec setsid -w /bin/sh -c \"$1\"\n";
    ::chmod(file.c_str(), 0755);
  }
  std::string rsh() const { return folder_.path() + "/rsh"; }

  Words words(const std::string& hosts, const Words& options, const Words& command) const {
    Words all{"--hosts", hosts, "--rsh", rsh()};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  Finished job(const std::string& hosts, const Words& options, const Words& command) const {
    return ddprun(words(hosts, options, command), {.limit = seconds(60)});
  }
  static std::string mark() {
    return "ddprun-stand-in-test-" + std::to_string(::getpid()) + "-" +
           testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  TemporaryFolder folder_;
};

// 40 hosts need a tree: 32 branches, eight of them with a host of their own.
TEST_F(StandIn, ReachesMoreHostsThanOneShouldHoldConnectionsTo) {
  set("echo $host >> " + folder_.path() + "/by.$(ps -o ppid= $PPID | tr -d ' ')");
  const Finished end =
      job("127.0.1.[1-40]:1", {"-q"}, {"sh", "-c", "echo rank $RANK of $WORLD_SIZE"});
  EXPECT_EQ(end.code, 0) << end.err;
  auto got = lines(end.out);
  ASSERT_EQ(got.size(), 40u) << end.out << end.err;
  for (int rank = 0; rank < 40; ++rank)
    EXPECT_THAT(got, testing::Contains("[127.0.1." + std::to_string(rank + 1) + "] rank " +
                                       std::to_string(rank) + " of 40"));
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

TEST_F(StandIn, StopsATreeByOneSignalOrWhereItIsKilled) {
  for (const int signo : {SIGTERM, SIGKILL}) {
    Program program(ddprun_words(words("127.0.1.[1-36]:1", {"-q"},
                                       {"sh", "-c", "echo up; exec sleep 1000", mark()})),
                    {.limit = seconds(60)});
    ASSERT_TRUE(program.wait_for_output("up", 36));
    ::kill(program.pid(), signo);
    EXPECT_TRUE(nobody_has(mark(), seconds(20))) << signo;
    program.finish();
  }
}

TEST_F(StandIn, SaysOnceThatAProgramIsMissing) {
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {}, {"/no/such/program"});
  EXPECT_EQ(end.code, 127);
  EXPECT_EQ(count_of("/no/such/program", end.err), 1) << end.err;
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
  const Finished end = job("127.0.0.2:1,127.0.0.3:1", {"-q", "--max-restarts", "1"},
                           {"sh", "-c",
                            "echo $RANK.$TORCHELASTIC_RESTART_COUNT; [ $RANK = 0 ] || exit "
                            "$((1 - TORCHELASTIC_RESTART_COUNT)); sleep 0.1"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, AllOf(HasSubstr("[127.0.0.2] 0.1"), HasSubstr("[127.0.0.3] 1.1")));
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

// Neither a stopped process nor a host without power closes a connection.
TEST_F(StandIn, StopsWhereNobodyGivesOrdersAnyMore) {
  Program program(
      ddprun_words(words("127.0.0.2:1,127.0.0.3:1",
                         {"-q", "--rdzv-conf", "keep_alive_interval=0.2,keep_alive_max_attempt=2"},
                         {"sh", "-c", "echo up; while :; do sleep 0.05; done", mark()})),
      {.limit = seconds(60)});
  ASSERT_TRUE(program.wait_for_output("up", 2));
  // Longer than the silence that is allowed: orders come.
  EXPECT_FALSE(no_worker_of(mark(), std::chrono::milliseconds(2500)));
  const pid_t launcher = process::children_of(program.pid()).front();
  ::kill(launcher, SIGSTOP);
  EXPECT_TRUE(no_worker_of(mark(), seconds(20)));
  ::kill(launcher, SIGCONT);
  EXPECT_NE(program.finish().code, 0);
}

TEST_F(StandIn, StopsWhatSleepsWhereTheConnectionsAreCut) {
  const std::string pipe = folder_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Program program(ddprun_words(words("127.0.0.2:1,127.0.0.3:1", {"-q"},
                                     {"sh", "-c", "echo up; read line <>" + pipe, mark()})),
                  {.limit = seconds(60)});
  ASSERT_TRUE(program.wait_for_output("up", 2));
  const pid_t launcher = process::children_of(program.pid()).front();
  ::kill(program.pid(), SIGTSTP);
  for (const pid_t pid : workers_of(mark())) EXPECT_TRUE(comes_to_state(pid, 'T'));
  for (const pid_t pid : {launcher, program.pid()}) EXPECT_TRUE(comes_to_state(pid, 'T'));
  for (const pid_t shell : process::children_of(launcher)) ::kill(shell, SIGKILL);
  ::kill(program.pid(), SIGCONT);
  EXPECT_TRUE(no_worker_of(mark(), seconds(10)));
  EXPECT_EQ(program.finish().code, 125);
}

// The process of the host's ddprun that is `levels` below the remote shell gets SIGKILL.
class Killed : public StandIn, public testing::WithParamInterface<int> {};

TEST_P(Killed, IsBlamedOnItsHost) {
  set("echo $$ > '" + folder_.path() + "'/$host");
  for (const std::string host : {"127.0.0.2", "127.0.0.3"}) {
    Program program(ddprun_words(words("127.0.0.2:1,127.0.0.3:1", {"-q"},
                                       {"sh", "-c", "echo up; exec sleep 1000", mark()})),
                    {.limit = seconds(60)});
    ASSERT_TRUE(program.wait_for_output("up", 2));
    pid_t pid = std::stoi(*read_file(folder_.path() + "/" + host));
    for (int level = 0; level < GetParam(); ++level) {
      const auto children = process::children_of(pid);
      ASSERT_FALSE(children.empty()) << level;
      pid = children.front();
    }
    ::kill(pid, SIGKILL);
    const Finished end = program.finish();
    EXPECT_EQ(end.code, 125) << end.err;
    EXPECT_THAT(end.err, HasSubstr("ddprun: host " + host + ": "));
    EXPECT_TRUE(nobody_has(mark(), seconds(20)));
  }
}
// Its outer guardian, the guardian of the node, and the agent.
INSTANTIATE_TEST_SUITE_P(Processes, Killed, testing::Values(1, 3, 4));

// The words for a script on a terminal.
std::string quoted(const Words& words) {
  std::string line = "$DDPRUN";
  for (const std::string& word : words) line += " '" + word + "'";
  return line;
}

// `yes` goes on until its grace is over.
TEST_F(StandIn, EndsByASignalThoughNobodyReadsItsOutput) {
  std::string line = "cd '" + folder_.path() + "'; mkfifo pipe; exec 9<>pipe; ";
  for (const std::string& word :
       ddprun_words(words("127.0.0.2:1,127.0.0.3:1", {"-q", "--shutdown-timeout", "1"},
                          {"sh", "-c", "echo > up.$RANK; trap \"\" TERM; exec yes"})))
    line += " '" + word + "'";
  line +=
      " >pipe 9>&- & while [ ! -e up.0 ] || [ ! -e up.1 ]; do sleep 0.05; done; kill $!; wait $!";
  const Finished end = run_shell(line, {.limit = seconds(60)});
  EXPECT_EQ(end.code, 143) << end.err;
  EXPECT_THAT(end.err, AllOf(HasSubstr("stopped by SIGTERM"), Not(HasSubstr("connection"))));
  EXPECT_LT(end.took, seconds(8));
}

TEST_F(StandIn, ShowsHostAndRankOnATerminalAndStopsByAKey) {
  Terminal terminal("set -m; " +
                    quoted(words("127.0.0.2:1,127.0.0.3:1", {"-q", "--color=never"},
                                 {"sh", "-c", "echo up; exec sleep 1000", mark()})) +
                    "; echo status $?");
  ASSERT_TRUE(terminal.shows("] up")) << terminal.screen();
  ASSERT_TRUE(terminal.shows("] up")) << terminal.screen();
  EXPECT_THAT(terminal.screen(),
              AllOf(HasSubstr("[127.0.0.2] [0] up\r\n"), HasSubstr("[127.0.0.3] [1] up\r\n")));
  terminal.type(kCtrlC);
  EXPECT_TRUE(terminal.shows("stopped by SIGINT")) << terminal.screen();
  EXPECT_TRUE(nobody_has(mark(), seconds(10)));
}

TEST_F(StandIn, SleepsAndGoesOnWithTheShell) {
  Terminal terminal(
      "set -m; " +
      quoted(words("127.0.0.2:1,127.0.0.3:1", {"-q"},
                   {"sh", "-c", "echo up $$; while :; do sleep 0.05; done", mark()})) +
      "; echo asleep; read line; fg");
  ASSERT_TRUE(terminal.shows("up ")) << terminal.screen();
  ASSERT_TRUE(terminal.shows("up ")) << terminal.screen();
  terminal.type(kCtrlZ);
  ASSERT_TRUE(terminal.shows("asleep")) << terminal.screen();
  int stopped = 0;
  for (const pid_t pid : workers_of(mark())) stopped += comes_to_state(pid, 'T') ? 1 : 0;
  EXPECT_EQ(stopped, 2);
  terminal.type("\n");
  for (const pid_t pid : workers_of(mark())) EXPECT_TRUE(comes_to_state(pid, 'S'));
  terminal.type(kCtrlC);
  EXPECT_TRUE(nobody_has(mark(), seconds(10)));
}

}  // namespace
}  // namespace ddprun::test
