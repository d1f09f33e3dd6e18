#include "rendezvous/base/printable.h"

#include <gtest/gtest.h>

namespace ddprun {
namespace {

TEST(Printable, LeavesTextAndUtf8Alone) {
  EXPECT_EQ(printable("node a – größer 日本 🙂"), "node a – größer 日本 🙂");
}

TEST(Printable, ShowsEveryControlAndLosesNothingBehindIt) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\rd\x1b]0;e"), "a\\x1b[31mb\\x0ac\\x0dd\\x1b]0;e");
  EXPECT_EQ(printable(std::string("a\0b\x07\x7f", 5)), "a\\x00b\\x07\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J")
      << "the 8-bit form of ESC [";
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0") << "the first one behind the controls";
  EXPECT_EQ(printable("a\tb"), "a    b");
}

TEST(Printable, ShowsForeignBytesAsHex) {
  EXPECT_EQ(printable("caf\xe9 \xff"), "caf\\xe9 \\xff");
  EXPECT_EQ(printable("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe6\x97"),
            "\\xc0\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80 \\xe6\\x97");
}

TEST(ValidUtf8, LeavesWhatJsonEscapes) {
  EXPECT_EQ(valid_utf8("a\n\x1b\"ö\xff"), "a\n\x1b\"ö\\xff");
}

}  // namespace
}  // namespace ddprun
