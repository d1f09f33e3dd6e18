#include "rendezvous/base/decimal.h"

#include <gtest/gtest.h>

namespace ddprun {
namespace {

TEST(DecimalTest, ReadsWhatPeopleWrite) {
  EXPECT_EQ(read_decimal("30"), 30.0);
  EXPECT_EQ(read_decimal("0.25"), 0.25);
  EXPECT_EQ(read_decimal(".5"), 0.5);
  EXPECT_EQ(read_decimal("5."), 5.0);
  EXPECT_EQ(read_decimal("-1"), -1.0);
  EXPECT_EQ(read_decimal("2e-3"), 0.002);
  EXPECT_EQ(read_decimal("1E+2"), 100.0);
}

TEST(DecimalTest, RefusesWhatIsNotAllOfANumber) {
  for (const char* text : {"", ".", "-", "--1", "+1", " 1", "1 ", "1s", "1,5", "e3", "1e", "1.2.3",
                           "0x10", "inf", "nan", "infinity", "1e999", "1\n"})
    EXPECT_FALSE(read_decimal(text).has_value()) << text;
}

}  // namespace
}  // namespace ddprun
