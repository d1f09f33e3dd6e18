// CPU numbers as text and as bits.
#include "launcher/placement/cpu_list.h"

#include <gmock/gmock.h>
#include <sched.h>

namespace ddprun::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuListTest, IsWrittenInRanges) {
  EXPECT_EQ(range_text({}), "");
  EXPECT_EQ(range_text({5}), "5");
  EXPECT_EQ(range_text({0, 1}), "0-1");
  EXPECT_EQ(range_text({0, 1, 2, 8, 10, 11}), "0-2,8,10-11");
}

TEST(CpuListTest, BitsGoIntoWords) {
  EXPECT_THAT(bit_mask({0, 3}), ElementsAre(9UL));
  EXPECT_THAT(bit_mask({1, 64, 130}), ElementsAre(2UL, 1UL, 4UL));
  EXPECT_THAT(bit_mask({}), IsEmpty());
}

TEST(CpuListTest, TheInheritedCpusAreThoseOfTheAffinityMask) {
  const CpuList before = inherited_cpus();
  ASSERT_THAT(before, ::testing::Not(IsEmpty()));
  cpu_set_t all;
  cpu_set_t last;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&last);
  CPU_SET(before.back(), &last);
  ASSERT_EQ(sched_setaffinity(0, sizeof last, &last), 0);
  EXPECT_THAT(inherited_cpus(), ElementsAre(before.back()));
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(inherited_cpus(), before);
}

}  // namespace
}  // namespace ddprun::placement
