#include "launcher/output/prefix.h"

#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <cstdlib>

namespace ddprun::output {
namespace {

using cli::ColorChoice;

const PrefixFields kFields{.rank = 12,
                           .local_rank = 4,
                           .attempt = 2,
                           .role_name = "trainer",
                           .hostname = "gpu07",
                           .stream = "stderr"};

std::string filled(std::string_view text) {
  return Prefix(text, kFields).text("17:04:05.123");
}

TEST(Prefix, IsUsedForSeveralWorkersOnATerminalAndOnRequest) {
  EXPECT_TRUE(uses_prefix(2, true, false));
  EXPECT_FALSE(uses_prefix(1, true, false));
  EXPECT_FALSE(uses_prefix(2, false, false));
  EXPECT_TRUE(uses_prefix(1, false, true));
}

TEST(Prefix, ColorObeysNoColorAndDumbTerminals) {
  const auto automatic = ColorChoice::automatic;
  EXPECT_TRUE(uses_color(automatic, true, nullptr, "xterm"));
  EXPECT_TRUE(uses_color(automatic, true, "", "xterm"));
  EXPECT_FALSE(uses_color(automatic, true, "1", "xterm"));
  EXPECT_FALSE(uses_color(automatic, true, nullptr, "dumb"));
  EXPECT_FALSE(uses_color(automatic, true, nullptr, nullptr));
  EXPECT_FALSE(uses_color(automatic, false, nullptr, "xterm"));
}

TEST(Prefix, AColorThatIsAskedForBeatsEverything) {
  EXPECT_TRUE(uses_color(ColorChoice::always, false, "1", "dumb"));
  EXPECT_FALSE(uses_color(ColorChoice::never, true, nullptr, "xterm"));
}

TEST(Prefix, IsTheGlobalRankInBracketsByDefault) {
  EXPECT_EQ(filled(kDefaultPrefix), "[12] ");
}

TEST(Prefix, EveryFieldIsFilledIn) {
  EXPECT_EQ(filled("${rank}|${local_rank}|${role_name}|${hostname}|${attempt}|${stream}: "),
            "12|4|trainer|gpu07|2|stderr: ");
}

TEST(Prefix, IsReadAsPythonReadsATemplate) {
  EXPECT_EQ(filled("$rank:$$x $local_rank"), "12:$x 4");
  EXPECT_EQ(filled("${unknown} ${} ${rank $ 5$"), "${unknown} ${} ${rank $ 5$");
  EXPECT_EQ(filled("$ranks"), "$ranks");
}

TEST(Prefix, TheTimeIsThatOfTheLines) {
  Prefix prefix("${time} r${rank} ${time}> ", kFields);
  ASSERT_TRUE(prefix.has_time());
  EXPECT_EQ(prefix.text("A"), "A r12 A> ");
  EXPECT_EQ(prefix.text("B"), "B r12 B> ");
  EXPECT_FALSE(Prefix("${rank}", kFields).has_time());
}

TEST(Prefix, AnEmptyTemplateIsNoPrefix) {
  EXPECT_TRUE(Prefix("", kFields, color_of(0)).empty());
  EXPECT_EQ(Prefix("", kFields, color_of(0)).text(), "");
}

TEST(Prefix, ColorEndsBeforeTheBlanksBehindIt) {
  EXPECT_EQ(Prefix("[${rank}] ", kFields, color_of(0)).text(), "\x1b[36m[12]\x1b[0m ");
  EXPECT_EQ(Prefix("${time} ", kFields, color_of(0)).text("T"), "\x1b[36mT\x1b[0m ");
  EXPECT_NE(color_of(0), color_of(1));
}

TEST(TimeText, HasMillisecondsOfLocalTime) {
  ::setenv("TZ", "UTC-2", 1);
  ::tzset();
  using std::chrono::milliseconds;
  const std::chrono::system_clock::time_point time(milliseconds(1'700'000'000'007));
  EXPECT_EQ(time_text(time), "00:13:20.007");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(Prefix, GoesInFrontOfEveryLineEmptyOnesToo) {
  std::string out = "before\n";
  append_prefixed(out, "[1] ", "a\n\nb\n");
  EXPECT_EQ(out, "before\n[1] a\n[1] \n[1] b\n");
}

TEST(Prefix, MayBeMuchLongerThanTheLines) {
  const std::string prefix(5000, 'p');
  std::string expected;
  for (int i = 0; i < 9; ++i) expected += prefix + "\n";
  std::string out;
  append_prefixed(out, prefix, std::string(9, '\n'));
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace ddprun::output
