#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "launcher/stacks/proc_stacks.h"
#include "launcher/stacks/stack_taker.h"
#include "rendezvous/base/read_file.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::stacks {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ToolTest, FramesAreTold) {
  EXPECT_TRUE(has_frames("Thread 1\n#0  0x00 in poll ()\n"));
  EXPECT_FALSE(has_frames("ptrace: Operation not permitted.\n"));
}

TEST(ToolTest, TheDebuggerAsksNobody) {
  const auto words = command({Tool::Kind::gdb, "/usr/bin/gdb"}, 4711);
  EXPECT_THAT(words, Contains("-batch"));
  EXPECT_THAT(words, Contains("-nx"));
  EXPECT_THAT(words, Contains("4711"));
}

TEST(ProcStacks, NameTheThreadAndItsState) {
  EXPECT_THAT(proc_stacks(::getpid()), HasSubstr("'stacks_test', state R (running)"));
  EXPECT_EQ(proc_stacks(1 << 30), "");
}

// A folder with what stands for gdb, and a process to look at.
class StackTakerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sleeper_ = ::fork();
    if (sleeper_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  void TearDown() override {
    ::kill(sleeper_, SIGKILL);
    ::waitpid(sleeper_, nullptr, 0);
  }
  void gdb(const std::string& script, const std::string& name = "gdb") {
    const std::string path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  }
  std::string file(int i = 0) const { return folder_ / ("s" + std::to_string(i)); }
  std::string take(std::chrono::milliseconds limit, int processes = 1) {
    boost::asio::io_context io;
    StackTaker taker(io, {.launcher = ::getpid()}, folder_.path());
    std::vector<Target> targets;
    for (int i = 0; i < processes; ++i) targets.push_back({sleeper_, "rank 3", file(i)});
    taker.take(std::move(targets), limit, [&] { ++done_; });
    io.run();
    EXPECT_EQ(done_, 1);
    return read_file(file()).value_or("");
  }
  const test::TemporaryFolder folder_;
  pid_t sleeper_ = 0;
  int done_ = 0;
};

TEST_F(StackTakerTest, WhatTheDebuggerPrintsIsKept) {
  gdb("echo \"#0  in pause, $*\"");
  const std::string text = take(20s);
  EXPECT_THAT(text, ::testing::StartsWith("rank 3\n#0  in pause, -nx"));
  EXPECT_THAT(text, Not(HasSubstr("the kernel says")));
}

TEST_F(StackTakerTest, TheFastestToolIsTaken) {
  gdb("echo '#0  by gdb'");
  gdb("echo \"#0  by eu-stack, $*\"", "eu-stack");
  EXPECT_THAT(take(20s), HasSubstr("#0  by eu-stack, -p " + std::to_string(sleeper_)));
}

TEST_F(StackTakerTest, AStoppedProcessIsToldFromOneThatHangs) {
  gdb("echo '#0  in pause'");
  EXPECT_THAT(take(20s), Not(HasSubstr("stopped")));
  std::filesystem::remove(file());
  done_ = 0;
  ASSERT_EQ(::kill(sleeper_, SIGSTOP), 0);
  siginfo_t stopped{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(sleeper_), &stopped, WSTOPPED), 0);
  EXPECT_EQ(take(20s), "rank 3\nstopped by a signal; SIGCONT continues it\n#0  in pause\n");
}

TEST_F(StackTakerTest, ADebuggerThatHangsIsKilledAndTheKernelAsked) {
  gdb("exec /bin/sleep 100");
  const auto before = std::chrono::steady_clock::now();
  const std::string text = take(50ms);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  EXPECT_THAT(text, HasSubstr("the kernel says:\nthread " + std::to_string(sleeper_)));
}

TEST_F(StackTakerTest, WithoutPermissionOrDebuggerTheKernelIsAsked) {
  EXPECT_THAT(take(20s), HasSubstr("the kernel says:\nthread "));
  std::filesystem::remove(file());
  done_ = 0;
  gdb("echo 'ptrace: Operation not permitted.'");
  EXPECT_THAT(take(20s), HasSubstr("not permitted.\nno debugger could show the frames"));
}

TEST_F(StackTakerTest, AtMostSixteenProcesses) {
  gdb("echo '#0  x'");
  take(20s, 20);
  EXPECT_TRUE(std::filesystem::exists(file(15)));
  EXPECT_FALSE(std::filesystem::exists(file(16)));
}

}  // namespace
}  // namespace ddprun::stacks
