#include "tests/bench/store_talk.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ddprun::bench {
namespace {

TEST(RedisTalkTest, ARequestIsAnArrayOfTexts) {
  EXPECT_EQ(redis_talk("add").request(7, 0), "*2\r\n$4\r\nINCR\r\n$9\r\n/client/7\r\n");
  EXPECT_EQ(redis_talk("get").request(7, 0), "*2\r\n$3\r\nGET\r\n$2\r\n/k\r\n");
}

TEST(RedisTalkTest, SetAndGetGoOutInOnePiece) {
  const std::string both = redis_talk("set_get").request(7, 0);
  EXPECT_EQ(both.find("*3\r\n$3\r\nSET\r\n$9\r\n/client/7\r\n$64\r\n"), 0U);
  EXPECT_TRUE(both.ends_with("\r\n*2\r\n$3\r\nGET\r\n$9\r\n/client/7\r\n"));
}

// "$64\r\n", the value and "\r\n"; before it "+OK\r\n".
TEST(RedisTalkTest, KnowsHowLongRepliesAre) {
  EXPECT_EQ(redis_talk("get").reply_bytes, 71U);
  EXPECT_EQ(redis_talk("set_get").reply_bytes, 76U);
  EXPECT_EQ(redis_talk("add").reply_bytes, 0U) << "a number has any length";
}

TEST(StoreTalkTest, AnUnknownOperationIsRefused) {
  EXPECT_THROW(c10d_talk("pop"), std::invalid_argument);
  EXPECT_THROW(redis_talk("wait"), std::invalid_argument);
}

}  // namespace
}  // namespace ddprun::bench
