// How a job of ddprun --hosts is stopped, sleeps and ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "launcher/process/children.h"
#include "rendezvous/base/read_file.h"
#include "rendezvous/base/unique_fd.h"
#include "tests/integration/hosts/stand_in.h"
#include "tests/integration/support/terminal.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

// Neither a stopped process nor a host without power closes a connection. One host, since several
// would take each other for lost under load.
TEST_F(StandIn, StopsWhereNobodyGivesOrdersAnyMore) {
  Program program(
      ddprun_words(words("127.0.0.2:1",
                         {"-q", "--rdzv-conf", "keep_alive_interval=0.2,keep_alive_max_attempt=2"},
                         {"sh", "-c", "echo up; while :; do sleep 0.05; done", mark()})),
      {.limit = seconds(60)});
  ASSERT_TRUE(program.wait_for_output("up"));
  // Longer than the silence that is allowed: orders come.
  EXPECT_FALSE(no_worker_of(mark(), std::chrono::milliseconds(2500)));
  const pid_t launcher = process::children_of(program.pid()).front();
  ::kill(launcher, SIGSTOP);
  EXPECT_TRUE(no_worker_of(mark(), seconds(20)));
  ::kill(launcher, SIGCONT);
  EXPECT_NE(program.finish().code, 0);
}

// Two workers that wait for a line of a pipe, and everything stopped as by Ctrl-Z.
class Asleep : public StandIn {
 protected:
  void fall_asleep(const Words& options = {}) {
    ASSERT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
    Words all{"-q"};
    all.insert(all.end(), options.begin(), options.end());
    program_ = std::make_unique<Program>(
        ddprun_words(words("127.0.0.2:1,127.0.0.3:1", all,
                           {"sh", "-c", "echo up; read line <>" + pipe_, mark()})),
        RunOptions{.limit = seconds(60)});
    ASSERT_TRUE(program_->wait_for_output("up", 2));
    launcher_ = process::children_of(program_->pid()).front();
    ::kill(program_->pid(), SIGTSTP);
    for (const pid_t pid : workers_of(mark())) EXPECT_TRUE(comes_to_state(pid, 'T'));
    for (const pid_t pid : {launcher_, program_->pid()}) EXPECT_TRUE(comes_to_state(pid, 'T'));
  }

  // Lets so many workers end.
  void write_lines(int workers) {
    const UniqueFd pipe(::open(pipe_.c_str(), O_RDWR));
    const std::string lines(static_cast<std::size_t>(workers), '\n');
    ASSERT_EQ(::write(pipe.get(), lines.data(), lines.size()), workers);
  }

  const std::string pipe_ = folder_.path() + "/pipe";
  std::unique_ptr<Program> program_;
  pid_t launcher_ = 0;
};

// The hosts get SIGCONT as an order first.
TEST_F(Asleep, StopsWhereTheConnectionsAreCut) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  for (const pid_t shell : process::children_of(launcher_)) ::kill(shell, SIGKILL);
  ::kill(program_->pid(), SIGCONT);
  EXPECT_TRUE(no_worker_of(mark(), seconds(10)));
  EXPECT_EQ(program_->finish().code, 125);
}

// And here none at all.
TEST_F(Asleep, StopsWhereWhoeverGivesOrdersIsKilled) {
  ASSERT_NO_FATAL_FAILURE(fall_asleep());
  ::kill(launcher_, SIGKILL);
  EXPECT_TRUE(no_worker_of(mark(), seconds(10)));
  program_->finish();
}

// What was said just before it fell asleep is not heard as a sign of life; and neither the hosts
// nor the nodes, which were all stopped, take each other for lost.
TEST_F(Asleep, GoesOnHoweverLongItHasSlept) {
  const std::string fast = "keep_alive_interval=0.1,keep_alive_max_attempt=10";  // hosts: 4 s
  ASSERT_NO_FATAL_FAILURE(fall_asleep({"--rdzv-conf", fast}));
  EXPECT_FALSE(no_worker_of(mark(), seconds(5)));
  ::kill(program_->pid(), SIGCONT);
  write_lines(2);
  const Finished end = program_->finish();
  EXPECT_EQ(end.code, 0) << end.err;
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

// What two ranks write stands before the pipe that nobody reads. Then one fails: it is named, and
// when somebody reads all comes to its end.
TEST_F(StandIn, NamesWhoFailedThoughNobodyReadsTheOutput) {
  std::string line = "cd '" + folder_.path() + "'; mkfifo pipe; exec 9<>pipe; ";
  for (const std::string& word : ddprun_words(
           words("127.0.0.2:1,127.0.0.3:1", {},
                 {"sh", "-c",
                  "yes & before=; until now=$(grep wchar /proc/$!/io); [ \"$now\" = \"$before\" ]; "
                  "do before=$now; sleep 0.2; done; [ $RANK = 1 ] && exit 3; exec sleep 1000"})))
    line += " '" + word + "'";
  line +=
      " > pipe 2> err 9>&- & job=$!; until grep -q 'failed first' err || ! kill -0 $job; "
      "do sleep 0.05; done; cat err; cat <&9 > all & reader=$!; wait $job; echo code $?; "
      "kill $reader";
  const Finished end = run_shell(line, {.limit = seconds(60)});
  EXPECT_THAT(end.out, AllOf(HasSubstr("ddprun: rank 1 failed first: exit code 3"),
                             HasSubstr("host 127.0.0.3"), HasSubstr("code 3\n")))
      << end.err;
  EXPECT_EQ(count_of("failed first", *read_file(folder_.path() + "/err")), 1);
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

// Of the workers that have said "up PID". What they fork now and then looks as they do for a
// moment.
std::vector<pid_t> pids_on(const std::string& screen) {
  std::vector<pid_t> pids;
  const std::string before = "] up ";
  for (auto at = screen.find(before); at != screen.npos; at = screen.find(before, at + 1))
    pids.push_back(std::atoi(screen.c_str() + at + before.size()));
  return pids;
}

TEST_F(StandIn, SleepsAndGoesOnWithTheShell) {
  Terminal terminal(
      "set -m; " +
          quoted(words("127.0.0.2:1,127.0.0.3:1", {"-q", "--color=never"},
                       {"sh", "-c", "echo up $$; while :; do sleep 0.05; done", mark()})) +
          "; echo asleep; read line; fg",
      {}, seconds(60));
  for (int worker = 0; worker < 2; ++worker) {
    ASSERT_TRUE(terminal.shows("] up ")) << terminal.screen();
    ASSERT_TRUE(terminal.shows("\n")) << terminal.screen();
  }
  const std::vector<pid_t> workers = pids_on(terminal.screen());
  ASSERT_EQ(workers.size(), 2u) << terminal.screen();
  terminal.type(kCtrlZ);
  ASSERT_TRUE(terminal.shows("asleep")) << terminal.screen();
  for (const pid_t pid : workers) EXPECT_TRUE(comes_to_state(pid, 'T'));
  terminal.type("\n");
  for (const pid_t pid : workers) EXPECT_TRUE(comes_to_state(pid, 'S'));
  terminal.type(kCtrlC);
  EXPECT_TRUE(nobody_has(mark(), seconds(10)));
}

}  // namespace
}  // namespace ddprun::test
