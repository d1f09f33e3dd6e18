#include "samples/common/option_table.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace samples {
namespace {

using ::testing::ElementsAre;

class OptionTableTest : public ::testing::Test {
 protected:
  OptionTableTest() {
    table.counts("--workers", workers);
    table.word("--form", form, {"both", "ddp"});
  }
  std::string error(const std::string& word) {
    try {
      table.parse({word});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  OptionTable table;
  std::vector<int> workers{9};
  std::string form = "both";
};

TEST_F(OptionTableTest, ListsReplaceTheDefault) {
  EXPECT_FALSE(table.parse({"--workers=1,2,4"}));
  EXPECT_THAT(workers, ElementsAre(1, 2, 4));
  table.parse({"--workers", "3"});
  EXPECT_THAT(workers, ElementsAre(3));
}

TEST_F(OptionTableTest, EveryNumberOfAListIsChecked) {
  const std::string expected = "--workers: expected a whole number from 1 to 1000000, found ";
  for (const char* wrong : {"0", "x", ""}) {
    EXPECT_EQ(error(std::string("--workers=1,") + wrong), expected + "'" + wrong + "'");
  }
}

TEST_F(OptionTableTest, AWordIsOneOfThoseAllowed) {
  table.parse({"--form=ddp"});
  EXPECT_EQ(form, "ddp");
  EXPECT_EQ(error("--form=dp"), "--form: expected both or ddp, found 'dp'");
}

}  // namespace
}  // namespace samples
