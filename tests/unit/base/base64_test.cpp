#include "rendezvous/base/base64.h"

#include <gtest/gtest.h>

namespace ddprun {
namespace {

// RFC 4648, section 10.
TEST(Base64, IsAsTheStandardSays) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64(std::string("\xff\xfe\x00", 3)), "//4A");
}

TEST(Base64, ComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes += static_cast<char>(i);
  }
}

TEST(Base64, WhatIsNoneIsRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v\n", "Zm 9v", "Zh=="})
    EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace ddprun
