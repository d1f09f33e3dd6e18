#include "rendezvous/base/span_text.h"

#include <gtest/gtest.h>

namespace ddprun {
namespace {

using namespace std::chrono_literals;

TEST(SpanTextTest, IsAsShortAsItTellsSomething) {
  EXPECT_EQ(span_text(-1s), "0 s");
  EXPECT_EQ(span_text(99ms), "0 s");
  EXPECT_EQ(span_text(400ms), "0.4 s");
  EXPECT_EQ(span_text(2s), "2 s");
  EXPECT_EQ(span_text(9990ms), "9.9 s");
  EXPECT_EQ(span_text(12'400ms), "12 s");
  EXPECT_EQ(span_text(600s), "600 s");
  EXPECT_EQ(span_text(1200s), "20 min");
  EXPECT_EQ(span_text(3h + 5min), "3 h 5 min");
}

}  // namespace
}  // namespace ddprun
