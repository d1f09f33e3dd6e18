#include "launcher/output/console.h"

#include "tests/unit/output/descriptors.h"

namespace ddprun::output {
namespace {

class ConsoleTest : public ::testing::Test {
 protected:
  std::string shown() { return read_available(ours_.read_end.get()); }

  boost::asio::io_context io_{1};
  Channel ours_ = pipe_to_us();
  std::shared_ptr<Console> console_ = Console::make(io_, ours_.write_end.get());
};

TEST_F(ConsoleTest, WritesWhatOneWakeUpAppendedTogether) {
  console_->append_lines("[0] ", "a\nb\n");
  console_->append_lines("", "c\n");
  EXPECT_EQ(shown(), "");
  poll_now(io_);
  EXPECT_EQ(shown(), "[0] a\n[0] b\nc\n");
  EXPECT_TRUE(console_->empty());
  EXPECT_EQ(console_->total_written(), 14U);
}

TEST_F(ConsoleTest, ANoteBeginsANewLineOnlyWhereOneIsNeeded) {
  console_->append_raw("50%");
  console_->append_note("ddprun: note\n");
  console_->append_note("ddprun: another\n");
  poll_now(io_);
  EXPECT_EQ(shown(), "50%\nddprun: note\nddprun: another\n");
}

TEST_F(ConsoleTest, KeepsTheOrderWhenTheReaderIsSlow) {
  std::string sent;
  std::string got;
  for (int i = 0; i < 40'000; ++i) {
    const std::string line = std::to_string(i) + " some text to fill the pipe\n";
    sent += line;
    console_->append_lines("", line);
    if (i % 7000 == 0) poll_now(io_);
  }
  EXPECT_TRUE(console_->full());
  run_until(io_, [&] {
    got += shown();
    return got.size() >= sent.size();
  });
  EXPECT_EQ(got, sent);
}

TEST_F(ConsoleTest, CallsBackOnceWhenHalfIsDrained) {
  int calls = 0;
  console_->append_raw(std::string(Console::kFull, 'x'));
  console_->call_when_drained([&] { ++calls; });
  poll_now(io_);
  EXPECT_TRUE(console_->size() > Console::kFull / 2);
  EXPECT_EQ(calls, 0);
  run_until(io_, [&] {
    shown();
    return calls > 0;
  });
  EXPECT_LT(console_->size(), Console::kFull / 2);
  console_->append_raw("y");
  poll_now(io_);
  EXPECT_EQ(calls, 1);
}

TEST_F(ConsoleTest, AReaderThatGoesIsToldOnceAndEverythingIsDiscarded) {
  std::vector<int> problems;
  bool resumed = false;
  console_->on_problem([&](int problem) { problems.push_back(problem); });
  console_->append_raw(std::string(2 * Console::kFull, 'x'));
  console_->call_when_drained([&] { resumed = true; });
  ours_.read_end.reset();
  poll_now(io_);
  EXPECT_TRUE(resumed);
  EXPECT_TRUE(console_->empty());
  console_->append_lines("", "more\n");
  EXPECT_TRUE(console_->empty());
  EXPECT_TRUE(console_->discarding());
  EXPECT_EQ(problems, std::vector<int>{EPIPE});
}

TEST_F(ConsoleTest, AReaderThatGoesWhileWeWaitIsNoticed) {
  bool resumed = false;
  console_->append_raw(std::string(Console::kFull, 'x'));
  console_->call_when_drained([&] { resumed = true; });
  poll_now(io_);
  ours_.read_end.reset();
  run_until(io_, [&] { return resumed; });
  EXPECT_TRUE(console_->empty());
}

TEST_F(ConsoleTest, AFullDiskIsToldOnce) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const auto console = Console::make(io_, full.get());
  std::vector<int> problems;
  console->on_problem([&](int problem) { problems.push_back(problem); });
  console->append_raw("x");
  poll_now(io_);
  console->append_raw("y");
  poll_now(io_);
  EXPECT_EQ(problems, std::vector<int>{ENOSPC});
}

TEST_F(ConsoleTest, GivingUpSaysHowMuchWasLost) {
  console_->append_raw(std::string(200'000, 'x'));
  poll_now(io_);
  const std::size_t waiting = console_->size();
  EXPECT_EQ(console_->give_up(), waiting);
  EXPECT_EQ(shown().size(), 200'000 - waiting);
  bool empty = false;
  console_->on_empty([&] { empty = true; });
  poll_now(io_);
  EXPECT_TRUE(empty);
}

TEST_F(ConsoleTest, ItsOwnerMayGoWhileAWaitIsPending) {
  console_->append_raw(std::string(Console::kFull, 'x'));
  poll_now(io_);
  console_->close();
  console_.reset();
  shown();
  poll_now(io_);
}

}  // namespace
}  // namespace ddprun::output
