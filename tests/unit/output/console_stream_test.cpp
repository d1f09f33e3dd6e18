// How the streams of several workers look on one terminal: bars in the last row, whole lines above.
#include "launcher/output/console_stream.h"

#include "tests/unit/output/descriptors.h"

namespace ddprun::output {
namespace {

constexpr const char* kClear = "\r\x1b[K";

class ConsoleStreamTest : public ::testing::Test {
 protected:
  ConsoleStream stream(int rank) {
    PrefixFields fields;
    fields.rank = rank;
    return {console_, {.bars = true, .order = rank, .prefix = Prefix(kDefaultPrefix, fields)}};
  }
  std::string shown() {
    poll_now(io_);
    return read_available(ours_.read_end.get());
  }

  boost::asio::io_context io_{1};
  Channel ours_ = pipe_to_us();
  std::shared_ptr<Console> console_ = Console::make(io_, ours_.write_end.get());
  ConsoleStream zero_ = stream(0);
  ConsoleStream one_ = stream(1);
};

TEST_F(ConsoleStreamTest, ABarIsUpdatedInPlace) {
  zero_.show("\r 10%");
  EXPECT_EQ(shown(), "[0]  10%");
  zero_.show("\r 20%");
  EXPECT_EQ(shown(), std::string(kClear) + "[0]  20%");
}

TEST_F(ConsoleStreamTest, FramesThatNobodyCouldSeeAreNotWritten) {
  for (int i = 0; i < 100; ++i) zero_.show("\r" + std::to_string(i));
  EXPECT_EQ(shown(), "[0] 99");
}

TEST_F(ConsoleStreamTest, LinesOfOthersAppearAboveTheBar) {
  zero_.show("\r 10%");
  shown();
  one_.show("hello\n");
  EXPECT_EQ(shown(), std::string(kClear) + "[1] hello\n[0]  10%");
}

TEST_F(ConsoleStreamTest, TheBarOfTheLowestRankIsShownAndOthersWait) {
  one_.show("\r 50%");
  EXPECT_EQ(shown(), "[1]  50%");
  zero_.show("\r 10%");
  EXPECT_EQ(shown(), std::string(kClear) + "[0]  10%");
  one_.show("\r 60%");
  EXPECT_EQ(shown(), "");
  zero_.show("\r100%\n");
  EXPECT_EQ(shown(), std::string(kClear) + "[0] 100%\n[1]  60%");
}

TEST_F(ConsoleStreamTest, AFinishedBarIsOneLineWithItsLastFrame) {
  zero_.show("\r 10%\r 90%\r100%\nnext\n");
  EXPECT_EQ(shown(), "[0] 100%\n[0] next\n");
}

TEST_F(ConsoleStreamTest, ABarThatNeverEndsIsCompletedAtTheEnd) {
  zero_.show("10%\r");
  EXPECT_EQ(shown(), "[0] 10%");
  zero_.show("20%\r");
  zero_.finish();
  EXPECT_EQ(shown(), std::string(kClear) + "[0] 20%\n");
}

TEST_F(ConsoleStreamTest, AnUnfinishedLineThatIsNoBarWaits) {
  zero_.show("loading...");
  EXPECT_EQ(shown(), "");
  zero_.show(" done\n");
  EXPECT_EQ(shown(), "[0] loading... done\n");
}

TEST_F(ConsoleStreamTest, ABarThatGoesOnForDaysStaysSmall) {
  const std::string frame = "\r" + std::string(1000, '#');
  for (int i = 0; i < 3000; ++i) zero_.show(frame);
  zero_.show("\rend\n");
  EXPECT_EQ(shown(), "[0] end\n");
}

TEST_F(ConsoleStreamTest, ABarIsCutToTheWidthOfTheTerminal) {
  zero_.show("\r" + std::string(300, '#'));
  EXPECT_EQ(shown().size(), 79U);
}

TEST_F(ConsoleStreamTest, NotesAppearAboveTheBar) {
  zero_.show("\r 10%");
  shown();
  console_->append_note("ddprun: note\n");
  EXPECT_EQ(shown(), std::string(kClear) + "ddprun: note\n[0]  10%");
}

}  // namespace
}  // namespace ddprun::output
