// Nobody reads our stdout: memory stays bounded, workers wait, nothing is lost once somebody reads.
#include <gmock/gmock.h>

#include <optional>
#include <sstream>

#include "launcher/output/output.h"
#include "tests/unit/output/descriptors.h"

namespace ddprun::output {
namespace {

using ::testing::HasSubstr;

class StuckConsole : public ::testing::Test {
 protected:
  void start(int workers) {
    Options options;
    options.local_workers = options.world_size = workers;
    options.stdout_fd = out_.write_end.get();
    options.stderr_fd = err_.write_end.get();
    output_.emplace(io_, options);
    for (int rank = 0; rank < workers; ++rank) {
      workers_.push_back(std::move(output_->open({.rank = rank, .local_rank = rank}).value()));
      ::fcntl(workers_.back().out.get(), F_SETFL, O_NONBLOCK);
    }
  }

  // Workers write numbered lines until none of them can; returns the number of bytes.
  std::size_t write_until_all_wait() {
    std::size_t total = 0;
    for (bool progress = true; progress;) {
      progress = false;
      for (WorkerStreams& worker : workers_) total += write_burst(worker.out.get(), progress);
      poll_now(io_);
    }
    return total;
  }

  std::size_t write_burst(int fd, bool& progress) {
    std::string burst;
    for (int i = 0; i < 100; ++i) burst += "line " + std::to_string(next_++) + "\n";
    const ssize_t n = ::write(fd, burst.data(), burst.size());
    if (n <= 0) return 0;
    progress = true;
    sent_.append(burst, 0, static_cast<std::size_t>(n));
    return static_cast<std::size_t>(n);
  }

  std::string read_until(std::size_t bytes) {
    std::string got;
    run_until(io_, [&] {
      got += read_available(out_.read_end.get());
      return got.size() >= bytes;
    });
    return got;
  }

  boost::asio::io_context io_{1};
  Channel out_ = pipe_to_us();
  Channel err_ = pipe_to_us();
  std::optional<Output> output_;
  std::vector<WorkerStreams> workers_;
  std::string sent_;
  int next_ = 0;
};

TEST_F(StuckConsole, MakesTheWorkerWaitAndResumesWithoutLoss) {
  start(1);
  // Two pipes, the console's buffer and one read.
  const std::size_t bound = Console::kFull + 4 * 65536;
  EXPECT_LT(write_until_all_wait(), bound);
  EXPECT_GT(sent_.size(), Console::kFull);
  EXPECT_EQ(read_until(sent_.size()), sent_);
  workers_[0].out.reset();
  run_until(io_, [&] { return output_->open_streams() == 1; });
}

TEST_F(StuckConsole, ManyWorkersStayWithinTheSameBound) {
  start(8);
  EXPECT_LT(write_until_all_wait(), Console::kFull + 4 * 65536 + 8 * 65536);
  EXPECT_GE(read_until(sent_.size()).size(), sent_.size());
}

// As after 2>&1: the pipe takes a part of a buffer, and the other stream must not write into that
// gap.
TEST_F(StuckConsole, BothStreamsIntoOnePipeAreNeverMixed) {
  err_.write_end.reset(::dup(out_.write_end.get()));
  start(1);
  std::size_t sent = 0;
  const std::string out_line = "out " + std::string(1001, 'o') + "\n";
  const std::string err_line = "err " + std::string(1002, 'e') + "\n";
  std::string got;
  for (int i = 0; i < 300; ++i) {
    write_all(workers_[0].out.get(), out_line);
    write_all(workers_[0].err.get(), err_line);
    sent += out_line.size() + err_line.size();
    poll_now(io_);
    if (i % 40 == 39) got += read_available(out_.read_end.get());
  }
  got += read_until(sent - got.size());
  std::istringstream lines(got);
  for (std::string line; std::getline(lines, line);) {
    ASSERT_TRUE(line + "\n" == out_line || line + "\n" == err_line) << line.size();
  }
}

TEST_F(StuckConsole, StderrGoesOn) {
  start(1);
  write_until_all_wait();
  write_all(workers_[0].err.get(), "still here\n");
  run_until(io_, [&] { return !output_->tail_stderr(0).empty(); });
  poll_now(io_);
  EXPECT_EQ(read_available(err_.read_end.get()), "still here\n");
}

TEST_F(StuckConsole, FinishGivesUpAfterItsPatienceAndSaysSo) {
  start(1);
  const std::size_t sent = write_until_all_wait();
  std::optional<Unshown> result;
  output_->finish(std::chrono::milliseconds(20), [&](Unshown unshown) { result = unshown; });
  run_until(io_, [&] { return result.has_value(); });
  const std::size_t shown = read_available(out_.read_end.get()).size();
  EXPECT_GE(result->bytes + shown, sent);
  EXPECT_GT(result->bytes, Console::kFull / 2);
  EXPECT_THAT(read_available(err_.read_end.get()),
              HasSubstr("ddprun: nobody read stdout; " + std::to_string(result->bytes) + " bytes"));
}

TEST_F(StuckConsole, FinishForeverWaitsForASlowReader) {
  start(1);
  const std::size_t sent = write_until_all_wait();
  bool done = false;
  output_->finish(Output::kForever, [&](Unshown) { done = true; });
  poll_now(io_);
  EXPECT_FALSE(done);
  EXPECT_GE(read_until(sent).size(), sent);
  run_until(io_, [&] { return done; });
}

TEST_F(StuckConsole, HurryEndsAWaitForever) {
  start(1);
  write_until_all_wait();
  std::optional<Unshown> result;
  output_->finish(Output::kForever, [&](Unshown unshown) { result = unshown; });
  poll_now(io_);
  output_->hurry(std::chrono::milliseconds(20));
  run_until(io_, [&] { return result.has_value(); });
  EXPECT_GT(result->bytes, 0U);
}

TEST_F(StuckConsole, AReaderThatGoesLetsWorkersGoOn) {
  start(1);
  write_until_all_wait();
  out_.read_end.reset();
  std::size_t more = 0;
  run_until(io_, [&] {
    bool progress = false;
    more += write_burst(workers_[0].out.get(), progress);
    return more > 4 * Console::kFull;
  });
  EXPECT_EQ(output_->tail_stdout(0).size(), kTailLines);
}

}  // namespace
}  // namespace ddprun::output
