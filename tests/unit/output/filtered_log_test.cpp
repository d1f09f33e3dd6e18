#include "launcher/output/filtered_log.h"

#include <gtest/gtest.h>

#include "rendezvous/base/read_file.h"
#include "tests/unit/output/folder.h"

namespace ddprun::output {
namespace {

TEST(MatchingLines, HaveOneOfTheTextsSomewhere) {
  EXPECT_EQ(matching_lines("an error\nfine\nNaN here\n", {"error", "NaN"}, "[1] "),
            "[1] an error\n[1] NaN here\n");
  EXPECT_EQ(matching_lines("a.c\n", {"."}, ""), "a.c\n");
  EXPECT_EQ(matching_lines("abc\n", {"."}, ""), "");
}

class FilteredLogTest : public FolderTest {
 protected:
  std::shared_ptr<FilteredLog> make(const std::string& path) {
    return std::make_shared<FilteredLog>(
        std::move(*LogFile::create(path)), std::vector<std::string>{"loss"},
        [this](const std::string&, int error) { errors_.push_back(error); });
  }
  std::vector<int> errors_;
};

TEST_F(FilteredLogTest, CollectsLinesOfAllRanksHoweverTheyCome) {
  const auto log = make(folder_ + "/f");
  LineFilter zero(log, Prefix("[0] ", {}));
  LineFilter one(log, Prefix("[1] ", {}));
  zero.add("lo");
  one.add("loss 1\nother\n");
  zero.add("ss 0\nlast lo");
  zero.add("ss");
  zero.finish();
  EXPECT_EQ(*read_file(folder_ + "/f"), "[1] loss 1\n[0] loss 0\n[0] last loss\n");
}

TEST_F(FilteredLogTest, SaysOnceThatItCannotBeWritten) {
  const auto log = make("/dev/full");
  LineFilter filter(log, {});
  for (int i = 0; i < 3; ++i) filter.add("loss\n");
  EXPECT_EQ(errors_, std::vector<int>{ENOSPC});
}

}  // namespace
}  // namespace ddprun::output
