#include "samples/common/training_run.h"

#include <gmock/gmock.h>

#include "samples/common/text_table.h"
#include "tests/unit/error_of.h"
#include "tests/unit/samples/data_file.h"

namespace samples {
namespace {

using ::testing::HasSubstr;

TEST(TrainingRun, ScalesBatchAndRateOrNeither) {
  const TrainingPlan one{.batch_size = 32, .learning_rate = 0.5, .epochs = 3};
  const auto linear = scale(one, 4, "linear"), fixed = scale(one, 4, "fixed");
  EXPECT_EQ(linear.batch_size, 128);
  EXPECT_EQ(linear.learning_rate, 2);
  EXPECT_EQ(fixed.batch_size, 32);
  EXPECT_EQ(fixed.learning_rate, 0.5);
  EXPECT_EQ(fixed.workers, 4);
  EXPECT_EQ(linear.epochs, 3);
}

TEST(TrainingRun, AResultComesBackExactly) {
  digits::DataFolder folder;
  const std::string path = folder.write("result", "");
  write_result(path, {0.1, 1.0 / 3, 0.97});
  const auto back = read_result(path);
  EXPECT_EQ(back.seconds_per_epoch, 0.1);
  EXPECT_EQ(back.loss, 1.0 / 3);
  EXPECT_EQ(back.accuracy, 0.97);
  EXPECT_THAT(ddprun::test::error_of([&] { read_result(path + ".none"); }),
              HasSubstr(".none: expected the three numbers of a result"));
}

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(text_table({{"", "n", "long head"}, {"name", "12", "x"}}),
            "       n  long head\n"
            "name  12          x\n");
  EXPECT_EQ(fixed(0.126, 2), "0.13");
}

}  // namespace
}  // namespace samples
