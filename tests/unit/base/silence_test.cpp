#include "rendezvous/base/silence.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ddprun {
namespace {

using namespace std::chrono_literals;

class SilenceTest : public testing::Test {
 protected:
  // Looks as often as it is to, for `span`; true where the silence is too long then.
  bool is_too_long_after(std::chrono::nanoseconds span) {
    for (const auto end = now_ + span;;) {
      now_ = std::min(end, silence_.next_look());
      if (now_ < silence_.next_look()) return false;
      if (silence_.is_too_long(now_)) return true;
    }
  }
  // Without a look.
  void be_stopped(std::chrono::nanoseconds span) { now_ += span; }

  Silence::Time now_{100s};
  Silence silence_{now_, 16s};
};

TEST_F(SilenceTest, IsTooLongAtItsLimit) {
  EXPECT_FALSE(is_too_long_after(15s));
  EXPECT_TRUE(is_too_long_after(1s));
}

TEST_F(SilenceTest, BeginsAnewWithWhatIsHeard) {
  EXPECT_FALSE(is_too_long_after(12s));
  silence_.heard(now_);
  EXPECT_FALSE(is_too_long_after(12s));
  EXPECT_TRUE(is_too_long_after(4s));
}

// Not with the look before it.
TEST_F(SilenceTest, CountsFromWhatIsHeardBetweenTwoLooks) {
  now_ += 3s;
  silence_.heard(now_);
  EXPECT_FALSE(is_too_long_after(15s));
  EXPECT_TRUE(is_too_long_after(1s));
}

TEST_F(SilenceTest, BeginsAnewWhereWhoeverListensWasStopped) {
  EXPECT_FALSE(is_too_long_after(12s));
  be_stopped(1h);
  EXPECT_FALSE(silence_.is_too_long(now_));
  EXPECT_FALSE(is_too_long_after(12s));
  EXPECT_TRUE(is_too_long_after(4s));
}

TEST_F(SilenceTest, CountsShortDelaysOfWhoeverListens) {
  EXPECT_FALSE(is_too_long_after(8s));
  be_stopped(8s);
  EXPECT_TRUE(silence_.is_too_long(now_));
}

}  // namespace
}  // namespace ddprun
