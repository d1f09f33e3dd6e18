// Real children, each of which ends by itself or is killed by the test.
#include "launcher/process/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/process/wait.h"

namespace ddprun::process {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  std::string text() {
    write.reset();
    std::string all;
    char buffer[1024];
    for (ssize_t got; (got = ::read(read.get(), buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<size_t>(got));
    return all;
  }
  UniqueFd read, write;
};

class SpawnTest : public testing::Test {
 protected:
  SpawnRequest shell(const std::string& script) {
    SpawnRequest request{
        .path = "/bin/sh", .argv = {"sh", "-c", script}, .env = {"PATH=/usr/bin:/bin"}};
    request.in = null_.get();
    request.out = out_.write.get();
    request.err = STDERR_FILENO;
    return request;
  }

  static WaitStatus end_of(const Child& child) {
    pollfd ended{child.pidfd.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 10'000), 1) << "the child did not end in 10 s";
    return reap(child.pidfd.get()).value_or(WaitStatus{WaitStatus::Kind::exited, -1, false});
  }

  SpawnSettings settings_{.launcher = ::getpid()};
  UniqueFd null_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  Pipe out_;
};

TEST_F(SpawnTest, WordsAndEnvironmentArriveByteForByte) {
  SpawnRequest request = shell("printf '%s|' \"$@\" \"$A\"");
  request.argv.insert(request.argv.end(), {"sh", "--help", "", "a$$b", "\xff\n"});
  request.env.push_back("A=b=c ");
  const auto child = spawn(request, settings_);
  ASSERT_TRUE(child);
  EXPECT_TRUE(end_of(*child).success());
  EXPECT_EQ(out_.text(), "--help||a$$b|\xff\n|b=c |");
}

TEST_F(SpawnTest, AMissingProgramIsKnownAtOnce) {
  SpawnRequest request = shell("");
  request.path = "/no/such/program";
  const auto child = spawn(request, settings_);
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().error, ENOENT);
  EXPECT_EQ(child.error().step, SpawnStep::exec);
  EXPECT_EQ(ended_child(), -1) << "a child that could not become the program is still there";
}

TEST_F(SpawnTest, ExitCodesAndSignalsAreToldApart) {
  const auto seven = spawn(shell("exit 7"), settings_);
  const WaitStatus code = end_of(*seven);
  EXPECT_EQ(code.kind, WaitStatus::Kind::exited);
  EXPECT_EQ(code.value, 7);
  const auto killed = spawn(shell("kill -9 $$"), settings_);
  const WaitStatus signal = end_of(*killed);
  EXPECT_EQ(signal.kind, WaitStatus::Kind::signaled);
  EXPECT_EQ(signal.value, SIGKILL);
  EXPECT_EQ(signal.shell_code(), 137);
}

TEST_F(SpawnTest, AWorkerHasItsOwnSessionDefaultSignalsAndThreeDescriptors) {
  struct sigaction old {};
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignore, &old);
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const UniqueFd inherited(::open("/dev/null", O_RDONLY));
  settings_.ignored_signals = ignored_signals();
  const auto child =
      spawn(shell("echo $$ $(ps -o sid= -p $$); grep -E 'Sig(Blk|Ign)' /proc/$$/status | cut -f2; "
                  "exec ls /proc/self/fd"),
            settings_);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::sigaction(SIGHUP, &old, nullptr);
  ASSERT_TRUE(child);
  end_of(*child);
  const std::string pid = std::to_string(child->pid);
  // `ls` itself has the folder open, as 3.
  EXPECT_EQ(out_.text(), pid + " " + pid + "\n0000000000000000\n0000000000000000\n0\n1\n2\n3\n");
}

TEST_F(SpawnTest, AWorkerDiesWithItsLauncher) {
  Pipe pids;
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    settings_.launcher = ::getpid();
    const auto child = spawn(shell("exec sleep 1000"), settings_);
    const pid_t pid = child ? child->pid : 0;
    if (::write(pids.write.get(), &pid, sizeof pid) != sizeof pid) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t worker = 0;
  ASSERT_EQ(::read(pids.read.get(), &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, worker, 0)));
  ASSERT_TRUE(pidfd);
  ::kill(launcher, SIGKILL);
  ::waitpid(launcher, nullptr, 0);
  pollfd ended{pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 10'000), 1);
}

TEST_F(SpawnTest, AChildWhoseLauncherIsGoneDoesNotStart) {
  settings_.launcher = 1;
  const auto child = spawn(shell("echo started"), settings_);
  if (child) end_of(*child);
  EXPECT_EQ(out_.text(), "");
}

TEST_F(SpawnTest, AStoppedChildIsSeen) {
  const auto child = spawn(shell("kill -STOP $$; exit 3"), settings_);
  ASSERT_TRUE(child);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child->pid), &info, WSTOPPED | WNOWAIT), 0);
  EXPECT_EQ(state_of(child->pidfd.get()), ChildState::stopped);
  EXPECT_FALSE(reap(child->pidfd.get()));
  ::kill(child->pid, SIGCONT);
  EXPECT_EQ(end_of(*child).value, 3);
}

TEST_F(SpawnTest, TheInheritedDescriptorLimitIsGivenBack) {
  settings_.descriptors = {.rlim_cur = 77, .rlim_max = 99};
  const auto child = spawn(shell("ulimit -Sn; ulimit -Hn"), settings_);
  ASSERT_TRUE(child);
  end_of(*child);
  EXPECT_EQ(out_.text(), "77\n99\n");
}

TEST_F(SpawnTest, TheChildStartsInTheDirectoryAndItsPathIsSeenFromThere) {
  const UniqueFd bin(::open("/usr/bin", O_PATH | O_DIRECTORY | O_CLOEXEC));
  SpawnRequest request = shell("pwd");
  request.path = "./sh";
  request.directory = null_.get();
  const auto refused = spawn(request, settings_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error, ENOTDIR);
  EXPECT_EQ(refused.error().step, SpawnStep::directory);
  request.directory = bin.get();
  const auto child = spawn(request, settings_);
  ASSERT_TRUE(child);
  end_of(*child);
  EXPECT_EQ(out_.text(), "/usr/bin\n");
}

TEST_F(SpawnTest, AnExtraDescriptorIsTheOneBehindTheStandardOnes) {
  Pipe extra;
  SpawnRequest request = shell("ls /proc/self/fd; echo through it >&3");
  request.extra = extra.write.get();
  const auto child = spawn(request, settings_);
  ASSERT_TRUE(child);
  EXPECT_TRUE(end_of(*child).success());
  EXPECT_EQ(extra.text(), "through it\n");
  // `ls` has one for the folder itself.
  EXPECT_EQ(out_.text(), "0\n1\n2\n3\n4\n");
}

TEST_F(SpawnTest, AnExtraDescriptorThatHasItsNumberAlreadyStaysOpen) {
  Pipe extra;
  const UniqueFd saved(::fcntl(kExtraDescriptor, F_DUPFD_CLOEXEC, 10));
  ASSERT_EQ(::dup3(extra.write.get(), kExtraDescriptor, O_CLOEXEC), kExtraDescriptor);
  SpawnRequest request = shell("echo through it >&3");
  request.extra = kExtraDescriptor;
  const auto child = spawn(request, settings_);
  if (saved)
    ::dup3(saved.get(), kExtraDescriptor, O_CLOEXEC);
  else
    ::close(kExtraDescriptor);
  ASSERT_TRUE(child);
  EXPECT_TRUE(end_of(*child).success());
  EXPECT_EQ(extra.text(), "through it\n");
}

}  // namespace
}  // namespace ddprun::process
