#include "launcher/output/output.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "tests/unit/output/descriptors.h"

namespace ddprun::output {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// An Output whose stdout and stderr the test reads.
class OutputTest : public ::testing::Test {
 protected:
  void start(int workers, Channel out, Channel err) {
    out_ = std::move(out);
    err_ = std::move(err);
    Options options;
    options.local_workers = options.world_size = workers;
    options.stdout_fd = out_.write_end.get();
    options.stderr_fd = err_.write_end.get();
    options.no_color = "1";
    output_.emplace(io_, options);
    for (int rank = 0; rank < workers; ++rank) workers_.push_back(open(rank));
  }
  void start(int workers) { start(workers, pipe_to_us(), pipe_to_us()); }

  WorkerStreams open(int rank) {
    return std::move(output_->open({.rank = rank, .local_rank = rank}).value());
  }
  std::string shown() { return read_available(out_.read_end.get()); }
  std::string shown_err() { return read_available(err_.read_end.get()); }
  void end_all() {
    workers_.clear();
    run_until(io_, [&] { return output_->open_streams() == 0; });
    poll_now(io_);
  }

  boost::asio::io_context io_{1};
  Channel out_;
  Channel err_;
  std::optional<Output> output_;
  std::vector<WorkerStreams> workers_;
};

TEST_F(OutputTest, SixteenRanksWritingSingleBytesAreNeverMixed) {
  constexpr int kRanks = 16;
  constexpr int kLines = 20;
  start(kRanks);
  std::string got;
  for (int i = 0; i < kLines * 50; ++i) {
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::string byte(1, i % 50 == 49 ? '\n' : static_cast<char>('a' + rank));
      write_all(workers_[static_cast<std::size_t>(rank)].out.get(), byte);
    }
    poll_now(io_);
    got += shown();
  }
  end_all();
  std::map<std::string, int> count;
  std::istringstream lines(got + shown());
  for (std::string line; std::getline(lines, line);) ++count[line];
  EXPECT_EQ(count.size(), static_cast<std::size_t>(kRanks));
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(count[std::string(49, static_cast<char>('a' + rank))], kLines);
  }
}

TEST_F(OutputTest, IntoAPipeLinesGoWithoutPrefixAndIntoTheRightStream) {
  start(2);
  write_all(workers_[1].out.get(), "{\"a\": 1}\n");
  write_all(workers_[0].err.get(), "warning\n");
  end_all();
  EXPECT_EQ(shown(), "{\"a\": 1}\n");
  EXPECT_EQ(shown_err(), "warning\n");
}

TEST_F(OutputTest, OnATerminalLinesCarryTheRankAndWorkersHaveATerminal) {
  start(2, terminal_to_us(), pipe_to_us());
  EXPECT_TRUE(::isatty(workers_[0].out.get()));
  EXPECT_FALSE(::isatty(workers_[0].err.get()));
  write_all(workers_[1].out.get(), "hello\n");
  write_all(workers_[1].err.get(), "plain\n");
  end_all();
  EXPECT_EQ(wait_and_read(out_.read_end.get(), 10), "[1] hello\n");
  EXPECT_EQ(shown_err(), "plain\n");
}

TEST_F(OutputTest, TheOnlyWorkersBytesAreShownAsTheyCome) {
  start(1, terminal_to_us(), pipe_to_us());
  write_all(workers_[0].out.get(), "continue? ");
  run_until(io_, [&] { return !output_->tail_stdout(0).empty(); });
  poll_now(io_);
  EXPECT_EQ(wait_and_read(out_.read_end.get(), 10), "continue? ");
}

TEST_F(OutputTest, ALastLineWithoutNewlineIsCompleted) {
  start(2);
  write_all(workers_[0].out.get(), "A");
  write_all(workers_[1].out.get(), "B");
  end_all();
  const std::string text = shown();
  EXPECT_TRUE(text == "A\nB\n" || text == "B\nA\n") << text;
}

TEST_F(OutputTest, ALastLineOfTheOnlyWorkerIsCompletedToo) {
  start(1);
  write_all(workers_[0].out.get(), "one\ntwo");
  end_all();
  EXPECT_EQ(shown(), "one\ntwo\n");
}

TEST_F(OutputTest, BinaryBytesPassUnchanged) {
  start(2);
  const std::string bytes("\xff\xfe\0\r\x1b[1m\n", 9);
  write_all(workers_[0].out.get(), bytes);
  end_all();
  EXPECT_EQ(shown(), bytes);
}

TEST_F(OutputTest, KeepsTheTailsOfEveryWorkerApart) {
  start(2);
  write_all(workers_[0].out.get(), "out 0\n");
  write_all(workers_[0].err.get(), "err 0\nunfinished");
  write_all(workers_[1].err.get(), "err 1\n");
  end_all();
  EXPECT_THAT(output_->tail_stdout(0), ElementsAre("out 0"));
  EXPECT_THAT(output_->tail_stderr(0), ElementsAre("err 0", "unfinished"));
  EXPECT_THAT(output_->tail_stdout(1), IsEmpty());
  EXPECT_THAT(output_->tail_stderr(1), ElementsAre("err 1"));
}

TEST_F(OutputTest, WhenDrainedCallsOnceAllStreamsEnded) {
  start(2);
  int calls = 0;
  output_->when_drained([&] { ++calls; });
  workers_.pop_back();
  run_until(io_, [&] { return output_->open_streams() == 2; });
  poll_now(io_);
  EXPECT_EQ(calls, 0);
  end_all();
  EXPECT_EQ(calls, 1);
  output_->when_drained([&] { ++calls; });
  poll_now(io_);
  EXPECT_EQ(calls, 2);
}

TEST_F(OutputTest, FinishReadsWhatIsThereAlthoughADescendantKeepsTheStreamOpen) {
  start(2);
  write_all(workers_[0].out.get(), "last words");
  bool done = false;
  output_->finish(std::chrono::seconds(1), [&](Unshown unshown) { done = unshown.bytes == 0; });
  run_until(io_, [&] { return done; });
  EXPECT_EQ(output_->open_streams(), 0);
  EXPECT_EQ(shown(), "last words\n");
}

TEST_F(OutputTest, NotesFollowWhatWorkersWroteBefore) {
  start(1);
  write_all(workers_[0].err.get(), "50%");
  run_until(io_, [&] { return !output_->tail_stderr(0).empty(); });
  output_->note("ddprun: note");
  poll_now(io_);
  EXPECT_EQ(shown_err(), "50%\nddprun: note\n");
}

TEST_F(OutputTest, OneTerminalForBothStreamsIsOneConsole) {
  Channel terminal = terminal_to_us();
  Channel same{UniqueFd(), UniqueFd(::dup(terminal.write_end.get()))};
  start(2, std::move(terminal), std::move(same));
  write_all(workers_[0].err.get(), "e\n");
  run_until(io_, [&] { return !output_->tail_stderr(0).empty(); });
  write_all(workers_[0].out.get(), "o\n");
  run_until(io_, [&] { return !output_->tail_stdout(0).empty(); });
  output_->note("n");
  poll_now(io_);
  EXPECT_EQ(wait_and_read(out_.read_end.get(), 14), "[0] e\n[0] o\nn\n");
}

TEST_F(OutputTest, ALaterAttemptStartsWithEmptyTails) {
  start(2);
  write_all(workers_[1].err.get(), "first attempt");
  workers_[1] = open(1);
  EXPECT_THAT(output_->tail_stderr(1), IsEmpty());
  write_all(workers_[1].err.get(), "second\n");
  end_all();
  EXPECT_THAT(output_->tail_stderr(1), ElementsAre("second"));
  EXPECT_EQ(shown_err(), "first attempt\nsecond\n");
}

TEST_F(OutputTest, AFullDiskIsToldOnStderr) {
  UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  start(2, Channel{UniqueFd(), std::move(full)}, pipe_to_us());
  write_all(workers_[0].out.get(), "x\n");
  end_all();
  poll_now(io_);
  EXPECT_THAT(shown_err(), HasSubstr("ddprun: cannot write to stdout: No space left on device"));
}

// Descriptors that the epoll instances of this process watch, by inode.
bool is_watched(ino_t inode) {
  char wanted[64];
  std::snprintf(wanted, sizeof wanted, "ino:%lx ", static_cast<unsigned long>(inode));
  for (int fd = 0; fd < 256; ++fd) {
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(fd));
    for (std::string line; std::getline(info, line);) {
      if (line.starts_with("tfd:") && line.find(wanted) != std::string::npos) return true;
    }
  }
  return false;
}

TEST_F(OutputTest, AStreamLeavesEpollAlthoughAVforkChildHoldsACopy) {
  start(2);
  struct stat status {};
  ASSERT_EQ(::fstat(workers_[0].out.get(), &status), 0);
  ASSERT_TRUE(is_watched(status.st_ino));
  UniqueFd copy;
  for (int fd = 3; fd < 256 && !copy; ++fd) {
    struct stat other {};
    const bool same = ::fstat(fd, &other) == 0 && other.st_ino == status.st_ino;
    if (same && fd != workers_[0].out.get()) copy.reset(::dup(fd));
  }
  ASSERT_TRUE(copy);
  output_->stop_reading();
  EXPECT_FALSE(is_watched(status.st_ino));
}

}  // namespace
}  // namespace ddprun::output
