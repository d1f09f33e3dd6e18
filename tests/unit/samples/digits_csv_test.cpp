#include "samples/common/digits_csv.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include "tests/unit/samples/data_file.h"

namespace digits {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string line(const std::string& first_pixel, const std::string& label) {
  std::string text = first_pixel;
  for (int i = 1; i < 64; ++i) text += ",0";
  return text + "," + label + "\n";
}

class DigitsCsv : public ::testing::Test {
 protected:
  std::string error(const std::string& text) {
    const auto path = folder.write("digits.csv", text);
    const auto found = error_of([&] { read_digits_csv(path); });
    EXPECT_THAT(found, StartsWith(path + ": "));
    return found;
  }

  DataFolder folder;
};

TEST_F(DigitsCsv, ReadsGzip) {
  const auto images =
      read_digits_csv(folder.write("digits.csv.gz", gzip(line("16", "3") + line("1", "9"))));
  EXPECT_EQ(images.size(), 2u);
  EXPECT_EQ(images.rows * images.columns, 64u);
  EXPECT_EQ(images.white, 16);
  ASSERT_EQ(images.pixels.size(), 128u);
  EXPECT_EQ(images.pixels[0], 16);
  EXPECT_EQ(images.pixels[64], 1);
  EXPECT_THAT(images.labels, ElementsAre(3, 9));
}

TEST_F(DigitsCsv, ReadsLastLineWithoutNewlineAndCarriageReturns) {
  EXPECT_EQ(read_digits_csv(folder.write("a", line("1", "2") + line("1", "2\r"))).size(), 2u);
  const auto text = line("1", "2");
  EXPECT_EQ(read_digits_csv(folder.write("b", text.substr(0, text.size() - 1))).size(), 1u);
}

TEST_F(DigitsCsv, NamesTheLine) {
  EXPECT_THAT(error(line("1", "2") + line("17", "2")),
              HasSubstr("line 2: expected a number from 0 to 16, found '17'"));
  EXPECT_THAT(error(line("1", "10")),
              HasSubstr("line 1: expected a number from 0 to 9, found '10'"));
  EXPECT_THAT(error(line("-1", "2")), HasSubstr("found '-1'"));
  EXPECT_THAT(error(line("1.5", "2")), HasSubstr("found '1.5'"));
  EXPECT_THAT(error(line("", "2")), HasSubstr("found ''"));
}

TEST_F(DigitsCsv, TooFewAndTooManyNumbers) {
  EXPECT_THAT(error("1,2,3\n"),
              HasSubstr("line 1: expected 64 pixels and a digit, found fewer numbers"));
  EXPECT_THAT(error(line("1", "2,5")),
              HasSubstr("line 1: expected 64 pixels and a digit, found more numbers"));
}

TEST_F(DigitsCsv, ForeignEmptyAndCutFiles) {
  EXPECT_THAT(error("<!DOCTYPE html>\n"),
              HasSubstr("line 1: expected a number from 0 to 16, found '<!DOCTYPE html>'"));
  EXPECT_THAT(error(""), HasSubstr("found an empty file"));
  const auto packed = gzip(line("1", "2"));
  EXPECT_THAT(error(packed.substr(0, packed.size() - 1)),
              HasSubstr("the compressed data is cut off"));
}

// A kilobyte of gzip that unpacks to far more than the file can hold.
TEST_F(DigitsCsv, EndlessFile) {
  EXPECT_THAT(error(gzip(std::string(20'000'000, '0'))),
              HasSubstr("expected at most 10 MB of text, found more"));
}

TEST(SplitTrainTest, EveryFifthImageIsForTheTest) {
  LabeledImages all{1, 2, 16, {}, {}};
  for (std::uint8_t i = 0; i < 7; ++i) {
    all.labels.push_back(i);
    all.pixels.insert(all.pixels.end(), {i, std::uint8_t(i + 10)});
  }
  const auto [train, test] = split_train_test(all);
  EXPECT_THAT(test.labels, ElementsAre(0, 5));
  EXPECT_THAT(test.pixels, ElementsAre(0, 10, 5, 15));
  EXPECT_THAT(train.labels, ElementsAre(1, 2, 3, 4, 6));
  EXPECT_EQ(train.pixels.size(), 10u);
  EXPECT_EQ(train.columns, 2u);
  EXPECT_EQ(train.white, 16);
}

TEST(DefaultDigitsPath, VariableThenCacheThenHome) {
  setenv("HOME", "/home/ada", 1);
  setenv("XDG_CACHE_HOME", "/cache", 1);
  setenv("DIGITS_CSV", "/data/d.csv", 1);
  EXPECT_EQ(default_digits_path(), "/data/d.csv");
  setenv("DIGITS_CSV", "", 1);
  EXPECT_EQ(default_digits_path(), "/cache/ddprun/digits/digits.csv.gz");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(default_digits_path(), "/home/ada/.cache/ddprun/digits/digits.csv.gz");
}

}  // namespace
}  // namespace digits
