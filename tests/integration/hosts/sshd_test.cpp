// ddprun --hosts through a real ssh and a real sshd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "launcher/process/children.h"
#include "tests/integration/hosts/ssh_server.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;
using std::chrono::seconds;

class Sshd : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = no_sshd(); !why.empty()) GTEST_SKIP() << why;
    server_ = std::make_unique<SshServer>();
  }

  // On 127.0.0.2 and 127.0.0.3, with two workers each.
  Words words(const Words& options, const Words& command,
              const std::string& hosts = "127.0.0.2:2,127.0.0.3:2") const {
    Words all{"--hosts", hosts};
    all.insert(all.end(), options.begin(), options.end());
    if (std::ranges::find(options, "--rsh") == options.end()) {
      const Words rsh = server_->rsh();
      all.insert(all.end(), rsh.begin(), rsh.end());
    }
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }

  Finished job(const Words& options, const Words& command,
               const std::string& hosts = "127.0.0.2:2,127.0.0.3:2", RunOptions run = {}) const {
    run.limit = seconds(60);
    return ddprun(words(options, command, hosts), run);
  }

  // A job whose workers run until they are stopped. They can be found by the mark.
  std::unique_ptr<Program> long_job(const std::string& mark, const Words& options = {}) const {
    auto program = std::make_unique<Program>(
        ddprun_words(words(options, {"sh", "-c", "echo up; exec sleep 1000", mark})),
        RunOptions{.limit = seconds(60)});
    EXPECT_TRUE(program->wait_for_output("up", 4)) << program->finish().err;
    return program;
  }

  static std::string mark() {
    return "ddprun-hosts-test-" + std::to_string(::getpid()) + "-" +
           testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  std::unique_ptr<SshServer> server_;
};

TEST_F(Sshd, RunsTheJobOnAllHostsAndSaysWhereEachLineComesFrom) {
  const Finished end =
      job({"-q"}, {"sh", "-c", "echo rank $RANK of $WORLD_SIZE, local $LOCAL_RANK; echo e >&2"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(
      lines(end.out),
      UnorderedElementsAre("[127.0.0.2] rank 0 of 4, local 0", "[127.0.0.2] rank 1 of 4, local 1",
                           "[127.0.0.3] rank 2 of 4, local 0", "[127.0.0.3] rank 3 of 4, local 1"));
  EXPECT_EQ(count_of("[127.0.0.2] e\n", end.err), 2) << end.err;
  EXPECT_EQ(count_of("[127.0.0.3] e\n", end.err), 2) << end.err;
}

// Names of ~/.ssh/config mean nothing to the nodes themselves.
TEST_F(Sshd, MeetsWhereTheFirstHostWasReached) {
  const Finished end =
      job({"-q", "--prefix", ""}, {"sh", "-c", "echo $MASTER_PORT"}, "gpu01:1,gpu02:1");
  EXPECT_EQ(end.code, 0) << end.err;
  const auto ports = lines(end.out);
  ASSERT_EQ(ports.size(), 2u) << end.out;
  EXPECT_EQ(ports[0], ports[1]);
}

TEST_F(Sshd, PassesVariablesFolderAndArgumentsAsTheyAre) {
  const Finished end =
      job({"-q", "--prefix=", "-x", "ASKED", "-x", "GIVEN=a 'b' $c\n!"},
          {"sh", "-c", "pwd; echo \"$ASKED|$GIVEN|$NCCL_DEBUG|$SECRET|$1|$2\"", "sh", "x  y'\"$\\",
           "\xff*"},
          "127.0.0.2:1,127.0.0.3:1", {.environment = {"ASKED=1", "NCCL_DEBUG=WARN", "SECRET=s"}});
  EXPECT_EQ(end.code, 0) << end.err;
  const std::string here = std::filesystem::current_path().string();
  // Line by line: those of the two workers come in any order.
  for (const std::string& line :
       {here, std::string("1|a 'b' $c"), std::string("!|WARN||x  y'\"$\\|\xff*")})
    EXPECT_EQ(count_of(line + "\n", end.out), 2) << line << " of:\n" << end.out;
}

TEST_F(Sshd, ShowsNoValueInAListOfProcesses) {
  const std::string secret = mark() + "-secret";
  Program program(ddprun_words(words({"-x", "TOKEN"}, {"sh", "-c", "echo up; exec sleep 1000"})),
                  {.environment = {"TOKEN=" + secret}, .limit = seconds(60)});
  ASSERT_TRUE(program.wait_for_output("up", 4));
  EXPECT_THAT(pids_with(secret), ElementsAre());
  ::kill(program.pid(), SIGTERM);
  program.finish();
}

TEST_F(Sshd, EndsLikeTheWorkerThatFailsAndNamesItsHostOnce) {
  const Finished end = job(
      {},
      {"sh", "-c", "if [ $RANK = 3 ]; then echo boom >&2; exit 7; fi; exec sleep 1000", mark()});
  EXPECT_EQ(end.code, 7) << end.err;
  EXPECT_EQ(count_of("rank 3 failed first: exit code 7", end.err), 1) << end.err;
  EXPECT_THAT(end.err, AllOf(HasSubstr("  host 127.0.0.3, local rank 1"), HasSubstr("| boom")));
  EXPECT_TRUE(nobody_has(mark(), seconds(10)));
}

TEST_F(Sshd, OneCtrlCStopsAll) {
  const auto program = long_job(mark());
  ::kill(program->pid(), SIGINT);
  const Finished end = program->finish();
  EXPECT_EQ(end.signal, SIGINT) << end.err;
  EXPECT_EQ(count_of("ddprun: stopped by SIGINT\n", end.err), 1) << end.err;
  EXPECT_TRUE(nobody_has(mark(), seconds(10)));
}

// Either of its two processes, without a chance to say anything to anybody.
TEST_F(Sshd, LeavesNobodyWhereItIsKilled) {
  for (const bool launcher : {false, true}) {
    const auto program = long_job(mark());
    const auto children = process::children_of(program->pid());
    ASSERT_EQ(children.size(), 1u);
    ::kill(launcher ? children.front() : program->pid(), SIGKILL);
    EXPECT_TRUE(nobody_has(mark(), seconds(15))) << launcher;
    program->finish();
  }
}

// The network, or the sshd of one host, is gone.
TEST_F(Sshd, StopsAHostWhoseConnectionIsLostAndAllOthers) {
  const auto program = long_job(mark(), {"--shutdown-timeout", "5"});
  const auto connections = server_->connections();
  ASSERT_EQ(connections.size(), 2u);
  ::kill(connections.back(), SIGKILL);
  for (const pid_t pid : process::children_of(connections.back())) ::kill(pid, SIGKILL);
  const Finished end = program->finish();
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr(": the connection was lost ("));
  EXPECT_TRUE(nobody_has(mark(), seconds(15)));
}

// ssh itself is killed here.
TEST_F(Sshd, StopsAHostWhoseSshIsKilled) {
  const auto program = long_job(mark());
  const pid_t launcher = process::children_of(program->pid()).front();
  const auto shells = process::children_of(launcher);
  ASSERT_EQ(shells.size(), 2u);
  ::kill(shells.front(), SIGKILL);
  const Finished end = program->finish();
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr("ssh was ended by signal 9"));
  EXPECT_TRUE(nobody_has(mark(), seconds(15)));
}

TEST_F(Sshd, ASecondCtrlCKillsWhoeverDoesNotListen) {
  Program program(
      ddprun_words(words({"--shutdown-timeout", "1000"},
                         {"sh", "-c", "trap '' INT; echo up; sleep 1000; sleep 1000", mark()})),
      {.limit = seconds(60)});
  ASSERT_TRUE(program.wait_for_output("up", 4));
  ::kill(program.pid(), SIGINT);
  ASSERT_TRUE(program.wait_for_error("still there after SIGINT"));
  ::kill(program.pid(), SIGINT);
  EXPECT_EQ(program.finish().signal, SIGINT);
  EXPECT_TRUE(nobody_has(mark(), seconds(10)));
}

TEST_F(Sshd, HasWholeLinesHoweverManyThereAre) {
  const Finished end = job({"-q"}, {"sh", "-c",
                                    "i=0; while [ $i -lt 2000 ]; do echo line $RANK $i end; "
                                    "i=$((i+1)); done"});
  EXPECT_EQ(end.code, 0) << end.err;
  std::vector<int> next(4, 0);
  for (const std::string& line : lines(end.out)) {
    int host = 0, rank = 0, i = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "[127.0.0.%d] line %d %d end", &host, &rank, &i), 3)
        << line;
    ASSERT_EQ(host, 2 + rank / 2);
    ASSERT_EQ(i, next[static_cast<std::size_t>(rank)]++);
  }
  EXPECT_THAT(next, ElementsAre(2000, 2000, 2000, 2000));
}

}  // namespace
}  // namespace ddprun::test
