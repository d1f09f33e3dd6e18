// Ends that must come even when something around ddprun does not answer: a console that nobody
// reads, a driver library that hangs. And what must survive them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <thread>

#include "launcher/process/children.h"
#include "rendezvous/base/command_of.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

bool gone(pid_t pid, milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (process::is_alive(pid)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

// Its guardian and launcher, killed at the end whatever happens.
class Job {
 public:
  explicit Job(std::vector<std::string> words, RunOptions options = {})
      : program_(ddprun_words(std::move(words)), std::move(options)) {}
  ~Job() {
    if (launcher_ != 0 && process::is_alive(launcher_)) ::kill(launcher_, SIGKILL);
  }

  Program& program() { return program_; }
  pid_t guardian() const { return program_.pid(); }
  pid_t launcher() {
    while (launcher_ == 0) {
      const auto children = process::children_of(program_.pid());
      if (!children.empty()) launcher_ = children.front();
    }
    return launcher_;
  }

 private:
  Program program_;
  pid_t launcher_ = 0;
};

// Two workers fill the pipes of stdout and stderr, which this test reads no further.
const std::vector<std::string> kNobodyReads{"-n", "2", "sh", "-c", "echo up; yes >&2 & exec yes"};

// All four streams have come to a standstill.
void expect_full_pipes(Job& job) {
  std::vector<pid_t> writers;
  const auto deadline = std::chrono::steady_clock::now() + seconds(10);
  while (writers.size() < 4 && std::chrono::steady_clock::now() < deadline) {
    writers = process::descendants_of(job.launcher());
    std::erase_if(writers, [](pid_t pid) { return !command_of(pid).starts_with("yes"); });
  }
  ASSERT_EQ(writers.size(), 4U);
  for (const pid_t writer : writers) EXPECT_TRUE(is_stuck_writing(writer));
}

TEST(NobodyReadsTest, TheLauncherEndsWhenTheGuardianIsKilled) {
  Job job(kNobodyReads);
  ASSERT_TRUE(job.program().wait_for_output("up", 2));
  const pid_t launcher = job.launcher();
  expect_full_pipes(job);
  ::kill(job.guardian(), SIGKILL);
  EXPECT_TRUE(gone(launcher, seconds(2)));
}

TEST(NobodyReadsTest, TheGuardianEndsWhenTheLauncherIsKilled) {
  Job job(kNobodyReads);
  ASSERT_TRUE(job.program().wait_for_output("up", 2));
  const pid_t launcher = job.launcher();
  expect_full_pipes(job);
  ::kill(launcher, SIGKILL);
  EXPECT_TRUE(gone(job.guardian(), seconds(2)));
}

// A FIFO into which nobody writes: dlopen() waits for that, as NVML waits for a GPU that fell off
// the bus.
class DriverHangsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::mkfifo(library_.c_str(), 0600), 0); }
  RunOptions options() const { return {.environment = {"DDPRUN_NVML=" + library_}}; }
  // Somebody has opened it to read, and waits for what is never written.
  UniqueFd wait_for_reader() const {
    UniqueFd writer;
    const auto deadline = std::chrono::steady_clock::now() + seconds(10);
    while (!writer && std::chrono::steady_clock::now() < deadline)
      writer.reset(::open(library_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    EXPECT_TRUE(writer) << "nobody opens " << library_;
    return writer;
  }

  TemporaryFolder folder_;
  std::string library_ = folder_ / "libnvidia-ml.so";
};

TEST_F(DriverHangsTest, AStopSignalEndsIt) {
  Job job({"true"}, options());
  const pid_t launcher = job.launcher();
  const UniqueFd writer = wait_for_reader();
  ::kill(job.guardian(), SIGINT);
  EXPECT_TRUE(gone(job.guardian(), seconds(2)));
  EXPECT_TRUE(gone(launcher, seconds(2)));
}

TEST_F(DriverHangsTest, NothingIsLeftWhenTheGuardianIsKilled) {
  Job job({"true"}, options());
  const pid_t launcher = job.launcher();
  const UniqueFd writer = wait_for_reader();
  ::kill(job.guardian(), SIGKILL);
  EXPECT_TRUE(gone(launcher, seconds(2)));
}

// `daemon & exec ddprun …`: a child from before ddprun, which starts a daemon of its own only when
// ddprun is there already.
class StrangersTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string words;
    for (const std::string& word : ddprun_words({"sh", "-c", "'echo up; read line < $END'"}))
      words += " " + word;
    program_.emplace(
        std::vector<std::string>{
            "/bin/sh", "-c",
            "(read line < $GO; setsid sleep $MARK &) > /dev/null 2>&1 & exec" + words},
        RunOptions{.environment = {"GO=" + go_, "END=" + end_, "MARK=" + mark_}});
    ASSERT_TRUE(program_->wait_for_output("up"));
    std::ofstream(go_) << "\n";
    while (pids_with(mark_).empty()) std::this_thread::sleep_for(milliseconds(5));
  }
  void TearDown() override {
    EXPECT_EQ(pids_with(mark_).size(), 1U);
    for (pid_t pid : pids_with(mark_)) ::kill(pid, SIGKILL);
  }
  pid_t guardian() const {
    for (pid_t child : process::children_of(program_->pid()))
      if (command_of(child).find("ddprun") != std::string::npos) return child;
    return 0;
  }

  TemporaryFolder folder_;
  std::string go_ = folder_.make_fifo("go"), end_ = folder_.make_fifo("end");
  std::string mark_ = "7" + std::to_string(::getpid()) + "." + std::to_string(::rand());
  std::optional<Program> program_;
};

TEST_F(StrangersTest, LiveOnWhenTheJobIsOver) {
  std::ofstream(end_) << "\n";
  EXPECT_EQ(program_->finish().code, 0);
}

TEST_F(StrangersTest, LiveOnWhenTheLauncherIsKilled) {
  ::kill(process::children_of(guardian()).at(0), SIGKILL);
  const Finished end = program_->finish();
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_THAT(end.err, HasSubstr("the launcher was killed"));
}

TEST_F(StrangersTest, LiveOnWhenTheProcessThatTheUserKnowsIsKilled) {
  const pid_t launcher = process::children_of(guardian()).at(0);
  const std::vector<pid_t> workers = process::children_of(launcher);
  ::kill(program_->pid(), SIGKILL);
  EXPECT_TRUE(gone(launcher, seconds(2)));
  EXPECT_TRUE(gone(workers.at(0), seconds(2)));
}

TEST_F(StrangersTest, DoNotKeepASignalFromTheJob) {
  ::kill(program_->pid(), SIGTERM);
  EXPECT_EQ(program_->finish().signal, SIGTERM);
}

// A service manager may close these; what is opened next would be taken for them.
TEST(ClosedStreamsTest, AreNothingToReadAndNowhereToWrite) {
  const std::string words = ddprun_words({}).front() + " -q --stdin 0 ";
  const Finished reads = run_shell(words + "sh -c 'cat && exit 5' <&-");
  EXPECT_EQ(reads.code, 5) << reads.err;
  const Finished writes = run_shell(words + "sh -c 'echo lost; echo seen >&2; exit 6' >&-");
  EXPECT_EQ(writes.code, 6);
  EXPECT_THAT(writes.err, HasSubstr("seen"));
  EXPECT_EQ(run_shell(words + "sh -c 'read line; echo lost; exit 7' <&- >&- 2>&-").code, 7);
}

TEST(ErrorFileTest, ALongOneIsReadWhole) {
  const Finished end =
      ddprun({"sh", "-c",
              "printf '{\"message\":{\"message\":\"RuntimeError: boom\",\"extraInfo\":"
              "{\"py_callstack\":\"%0100000d\"}}}' 0 > $TORCHELASTIC_ERROR_FILE; exit 3"});
  EXPECT_EQ(end.code, 3);
  EXPECT_THAT(end.err, HasSubstr("RuntimeError: boom"));
}

TEST(ErrorFileTest, TheOneOfDdprunItselfGetsACopy) {
  const TemporaryFolder folder;
  const std::string copy = folder / "outer.json";
  const Finished end =
      ddprun({"sh", "-c", "printf '{\"message\":\"boom\"}' > $TORCHELASTIC_ERROR_FILE; exit 3"},
             {.environment = {"TORCHELASTIC_ERROR_FILE=" + copy}});
  EXPECT_EQ(end.code, 3);
  std::ifstream file(copy);
  std::string text;
  std::getline(file, text);
  EXPECT_THAT(text, HasSubstr("boom"));
}

}  // namespace
}  // namespace ddprun::test
