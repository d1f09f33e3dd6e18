#include "launcher/report/printable.h"

#include <gtest/gtest.h>

namespace ddprun::report {
namespace {

TEST(Printable, LeavesTextAndUtf8Alone) {
  EXPECT_EQ(printable("loss 0.5 – größer 日本 🙂"), "loss 0.5 – größer 日本 🙂");
}

TEST(Printable, TakesEscapeSequencesOut) {
  EXPECT_EQ(printable("\x1b[2J\x1b[1;31mred\x1b[0m end"), "red end");
  EXPECT_EQ(printable("\x1b]0;title\a"
                      "a\x1b]8;;x\x1b\\b"),
            "ab");
  EXPECT_EQ(printable("\x1b"
                      "ca\x1b(Bb\x1bM"),
            "ab");
  EXPECT_EQ(printable("cut \x1b[12"), "cut ");
  EXPECT_EQ(printable("cut \x1b"), "cut ");
}

TEST(Printable, ShowsControlsAndForeignBytesAsHex) {
  EXPECT_EQ(printable(std::string("a\0b\x07\x08\x7f", 6)), "a\\x00b\\x07\\x08\\x7f");
  EXPECT_EQ(printable("caf\xe9 \xff"), "caf\\xe9 \\xff");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J")
      << "the 8-bit form of ESC [";
  EXPECT_EQ(printable("\xe6\x97"), "\\xe6\\x97");
  EXPECT_EQ(printable("\xc0\xaf \xed\xa0\x80"), "\\xc0\\xaf \\xed\\xa0\\x80");
}

TEST(Printable, ShowsTheLastStateOfAProgressBar) {
  EXPECT_EQ(printable("10%\r20%\r30%"), "30%");
  EXPECT_EQ(printable("10%\r100%\r\r"), "100%");
  EXPECT_EQ(printable("\r"), "");
}

TEST(Printable, TabsAreSpaces) {
  EXPECT_EQ(printable("a\tb"), "a    b");
}

TEST(Columns, CountsCharacters) {
  EXPECT_EQ(columns(""), 0U);
  EXPECT_EQ(columns("größe"), 5U);
}

TEST(Shorten, KeepsBeginningAndEnd) {
  EXPECT_EQ(shorten("short", 10), "short");
  const std::string text = "error: " + std::string(100, 'x') + " line 7";
  const std::string cut = shorten(text, 33);
  EXPECT_EQ(cut, "error: xxxxxxxxxxxxx … xxx line 7");
  EXPECT_EQ(columns(cut), 33U);
}

TEST(Shorten, NeverCutsACharacter) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "ö";
  EXPECT_EQ(shorten(text, 12), "öööööö … ööö");
}

}  // namespace
}  // namespace ddprun::report
