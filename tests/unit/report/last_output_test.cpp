#include "launcher/report/last_output.h"

#include <gmock/gmock.h>

#include "launcher/report/printable.h"

namespace ddprun::report {
namespace {

using ::testing::ElementsAre;
using Lines = std::vector<std::string>;

Lines numbered(int count) {
  Lines lines;
  for (int i = 1; i <= count; ++i) lines.push_back("line " + std::to_string(i));
  return lines;
}

TEST(LastOutput, ShowsStderr) {
  EXPECT_THAT(last_output({{"terminate called", "what(): boom"}, {}, {}}, 20, 80),
              ElementsAre("  its last output:", "    | terminate called", "    | what(): boom"));
}

TEST(LastOutput, ShowsStdoutWhenStderrIsEmptyOrBlank) {
  EXPECT_THAT(last_output({{"", "  "}, {"cannot open data"}, {}}, 20, 80),
              ElementsAre("  its last output (stdout):", "    | cannot open data"));
}

TEST(LastOutput, ShowsBothWhenStderrIsShort) {
  const Lines lines = last_output({{"Aborted"}, numbered(50), {}}, 20, 80);
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines[0], "  its last output on stderr:");
  EXPECT_EQ(lines[1], "    | Aborted");
  EXPECT_EQ(lines[2], "  and on stdout:");
  EXPECT_EQ(lines[3], "    | line 45");
  EXPECT_EQ(lines[8], "    | line 50");
}

TEST(LastOutput, StderrWithEnoughToSayLeavesStdoutOut) {
  const Lines lines = last_output({numbered(30), {"epoch 1"}, {}}, 20, 80);
  ASSERT_EQ(lines.size(), 20U);
  EXPECT_EQ(lines[0], "  its last output:");
  EXPECT_EQ(lines[1], "    | line 12");
  EXPECT_EQ(lines[19], "    | line 30");
}

TEST(LastOutput, SaysThatThereWasNothing) {
  EXPECT_THAT(last_output({{}, {}, {}}, 20, 80), ElementsAre("  it wrote nothing"));
}

TEST(LastOutput, SaysThatNobodyReadAlong) {
  const Said unseen{.err = {}, .out = {}, .error_file = {}, .captured = false};
  EXPECT_THAT(last_output(unseen, 20, 80),
              ElementsAre("  its output was not captured (--output inherit)"));
}

TEST(LastOutput, TheErrorFileComesFirst) {
  EXPECT_THAT(
      last_output({{"Traceback"}, {}, parse_error_file(R"({"message": "ValueError: x"})")}, 20, 80),
      ElementsAre("  its error.json says:", "    | ValueError: x",
                  "  its last output:", "    | Traceback"));
}

TEST(LastOutput, WhatStderrSaysAtItsEndIsNotRepeated) {
  const Said said{{"step 9", "[rank 1] Error: it failed"},
                  {},
                  parse_error_file(R"({"message": "Error: it failed"})")};
  EXPECT_THAT(last_output(said, 20, 80),
              ElementsAre("  its last output:", "    | step 9", "    | [rank 1] Error: it failed"));
}

TEST(LastOutput, WhatIsNoLongerShownOfStderrIsStillSaidByTheErrorFile) {
  Lines err{"Error: it failed"};
  for (int i = 0; i < 30; ++i) err.push_back("and then " + std::to_string(i));
  const Lines lines =
      last_output({err, {}, parse_error_file(R"({"message": "Error: it failed"})")}, 10, 80);
  EXPECT_EQ(lines[0], "  its error.json says:");
  EXPECT_EQ(lines[1], "    | Error: it failed");
}

TEST(LastOutput, AMalformedErrorFileIsARemarkAndTheTailStays) {
  const Lines lines = last_output({{"Traceback"}, {}, parse_error_file("{bad")}, 20, 80);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("  its error.json is not JSON"));
  EXPECT_EQ(lines[2], "    | Traceback");
}

TEST(LastOutput, TheErrorFilesCallstackStandsInForAnEmptyStderr) {
  const char* file =
      R"({"message": {"message": "E", "extraInfo": {"py_callstack": "frame 1\nframe 2"}}})";
  EXPECT_THAT(last_output({{}, {}, parse_error_file(file)}, 20, 80),
              ElementsAre("  its error.json says:", "    | E",
                          "  its last output:", "    | frame 1", "    | frame 2"));
}

TEST(LastOutput, ALongLineWrapsAndOnlyAHugeOneLosesItsMiddle) {
  const std::string message = "RuntimeError: " + std::string(150, 'x') + " on cuda:1";
  EXPECT_EQ(last_output({{message}, {}, {}}, 20, 80)[1], "    | " + message);
  const std::string huge = "RuntimeError: " + std::string(5000, 'x') + " on cuda:1";
  const std::string shown = last_output({{huge}, {}, {}}, 20, 80)[1];
  EXPECT_EQ(columns(shown), 320U);
  EXPECT_TRUE(shown.starts_with("    | RuntimeError: "));
  EXPECT_TRUE(shown.ends_with(" on cuda:1"));
}

TEST(LastOutput, CountsTheRowsOfWrappedLines) {
  const Lines lines = last_output({Lines(30, std::string(150, 'y')), {}, {}}, 9, 80);
  EXPECT_EQ(lines.size(), 5U);
}

TEST(LastOutput, StaysWithinAFewRowsWhateverThereIs) {
  const std::string file = R"({"message": ")" + std::string(5000, 'm') + R"("})";
  for (std::size_t rows : {1U, 2U, 6U}) {
    std::size_t taken = 0;
    for (const std::string& line : last_output({numbered(3), numbered(100), file}, rows, 80)) {
      taken += (columns(line) + 79) / 80;
    }
    EXPECT_LE(taken, rows);
  }
}

}  // namespace
}  // namespace ddprun::report
