#include "samples/train_digits/options.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace digits {
namespace {

using ::testing::HasSubstr;

std::string error(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(TrainDigitsOptions, BothForms) {
  const auto options = parse_options(
      {"--epochs", "3", "--batch-size=16", "--lr", "0.5", "--save=a=b", "--data", "d"});
  EXPECT_EQ(options.epochs, 3);
  EXPECT_EQ(options.batch_size, 16);
  EXPECT_EQ(options.learning_rate, 0.5);
  EXPECT_EQ(options.save, "a=b");
  EXPECT_EQ(options.images.data, "d");
  EXPECT_FALSE(options.help);
}

TEST(TrainDigitsOptions, Defaults) {
  const auto options = parse_options({});
  EXPECT_GT(options.epochs, 0);
  EXPECT_NE(options.save, "");
  EXPECT_EQ(options.images.digits, "");
}

TEST(TrainDigitsOptions, Help) {
  EXPECT_TRUE(parse_options({"--help"}).help);
  for (const char* option : {"--epochs", "--batch-size", "--lr", "--save", "--data", "--digits"}) {
    EXPECT_THAT(help(), HasSubstr(option));
  }
}

TEST(TrainDigitsOptions, WrongValues) {
  EXPECT_EQ(error({"--epochs", "0"}),
            "--epochs: expected a whole number from 1 to 1000000, found '0'");
  EXPECT_THAT(error({"--epochs=-3"}), HasSubstr("found '-3'"));
  EXPECT_THAT(error({"--epochs=1.5"}), HasSubstr("found '1.5'"));
  EXPECT_THAT(error({"--batch-size=99999999999"}), HasSubstr("found '99999999999'"));
  EXPECT_EQ(error({"--lr=nan"}), "--lr: expected a number above 0, found 'nan'");
  EXPECT_THAT(error({"--lr=0"}), HasSubstr("found '0'"));
  EXPECT_EQ(error({"--save="}), "--save: expected a value, found an empty one");
  EXPECT_EQ(error({"--save"}), "--save: expected a value after it");
}

TEST(TrainDigitsOptions, UnknownAndContradictoryOptions) {
  EXPECT_EQ(error({"--epoch", "3"}), "unknown option '--epoch'; --help lists them");
  EXPECT_EQ(error({"digits"}), "unknown option 'digits'; --help lists them");
  EXPECT_EQ(error({"--data=a", "--digits=b"}),
            "--data and --digits: expected one of them, found both");
}

}  // namespace
}  // namespace digits
