#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "tests/integration/samples/bars.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kLimit{120};

Finished train(Words words, const char* workers = "2") {
  words.insert(words.begin(), {"-n", workers, "--device", "cpu", TRAIN_DIGITS});
  return ddprun(words, {.limit = kLimit});
}

// The last accuracy of the output, in per cent.
double last_accuracy(const std::string& out) {
  double accuracy = 0;
  const std::regex pattern("test accuracy ([0-9.]+) %");
  for (std::sregex_iterator i(out.begin(), out.end(), pattern), end; i != end; ++i)
    accuracy = std::stod((*i)[1]);
  return accuracy;
}

class TrainDigits : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string model = folder / "model.pt";
};

// The tests with the real digits; `./dev test` fetches them and says where they are.
class TrainRealDigits : public TrainDigits {
 protected:
  void SetUp() override {
    if (digits.empty())
      GTEST_SKIP() << "configured without -DDDPRUN_DIGITS=FILE; './dev test' fetches the digits";
    ASSERT_TRUE(std::filesystem::exists(digits)) << "DDPRUN_DIGITS=" << digits << " is not there";
  }
  std::string digits = DDPRUN_DIGITS;
};

TEST_F(TrainRealDigits, TwoRanksLearnAndReloadWhatTheySaved) {
  const auto job = train({"--digits", digits, "--save", model});
  ASSERT_EQ(job.code, 0) << job.err;
  const auto out = lines(job.out);
  EXPECT_THAT(out, Contains("1437 images for training, 360 for the test, 2 ranks, rank 0 on cpu"));
  EXPECT_THAT(out, Contains(MatchesRegex("epoch 1: loss [0-9.]+, test accuracy [0-9.]+ %")));
  EXPECT_THAT(out, Contains(MatchesRegex("[1-9][0-9]* samples/s over all ranks")));
  EXPECT_THAT(out.back(),
              MatchesRegex("saved by rank 0 to .*model.pt, reloaded by all ranks: .*, the same"));
  EXPECT_GT(last_accuracy(job.out), 95);
  EXPECT_TRUE(std::filesystem::exists(model));
  EXPECT_FALSE(std::filesystem::exists(model + ".tmp"));
}

TEST_F(TrainRealDigits, TheSameRunGivesTheSameNumbers) {
  const Words words{"--digits", digits, "--save", model, "--epochs", "2"};
  const auto first = lines(train(words).out), second = lines(train(words).out);
  ASSERT_EQ(first.size(), 5u);
  ASSERT_EQ(second.size(), 5u);
  EXPECT_EQ(first[1], second[1]);
  EXPECT_EQ(first[2], second[2]);
}

TEST_F(TrainDigits, LearnsFromPlainAndGzipIdxFilesWithThreeRanks) {
  write_bars(folder.path(), 500, 20);
  const auto job =
      train({"--data=" + folder.path(), "--save=" + model, "--batch-size=8", "--epochs=3"}, "3");
  EXPECT_EQ(job.code, 0) << job.err;
  EXPECT_THAT(lines(job.out),
              Contains("500 images for training, 20 for the test, 3 ranks, rank 0 on cpu"));
  EXPECT_EQ(last_accuracy(job.out), 100) << job.out;
}

TEST_F(TrainDigits, AForeignFileEndsTheJobWithItsName) {
  write(folder / "digits.csv", "<!DOCTYPE html>\n");
  const auto job = train({"--digits", folder / "digits.csv", "--save", model});
  EXPECT_EQ(job.code, 1);
  EXPECT_THAT(job.out, IsEmpty());
  EXPECT_THAT(job.err,
              HasSubstr("std::runtime_error: " + (folder / "digits.csv") +
                        ": line 1: expected a number from 0 to 16, found '<!DOCTYPE html>'"));
}

TEST_F(TrainRealDigits, AModelThatCannotBeSavedEndsTheJob) {
  const auto path = folder / "missing/model.pt";
  const auto job = train({"--digits", digits, "--save", path, "--epochs", "1"});
  EXPECT_EQ(job.code, 1);
  EXPECT_THAT(job.err, HasSubstr("ddp::Error: [rank 0] save_on_rank0 failed on rank 0: save: " +
                                 path + " cannot be written: No such file or directory"));
}

TEST_F(TrainDigits, WithoutDigitsSaysWhereTheyComeFrom) {
  const auto job = ddprun({"-n", "1", "--device", "cpu", TRAIN_DIGITS},
                          {.environment = {"DIGITS_CSV=" + (folder / "none")}, .limit = kLimit});
  EXPECT_EQ(job.code, 1);
  EXPECT_THAT(job.err, HasSubstr((folder / "none") + " is not there. './dev demo' fetches it"));
}

TEST_F(TrainDigits, AWrongOptionAndHelpNeedNoLauncher) {
  const auto wrong = run({TRAIN_DIGITS, "--epochs", "many"}, {.limit = kLimit});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err,
              HasSubstr("--epochs: expected a whole number from 1 to 1000000, found 'many'"));
  const auto help = run({TRAIN_DIGITS, "--help"}, {.limit = kLimit});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("--data DIR"));
}

}  // namespace
}  // namespace ddprun::test
