#include "launcher/report/out_of_memory.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"
#include "tests/unit/report/jobs.h"

namespace ddprun::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OomKills, ReadsBothVersionsAndNothingElse) {
  EXPECT_EQ(oom_kills("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n"), 2U);
  EXPECT_EQ(oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"), 7U);
  EXPECT_EQ(oom_kills("oom_kill_disable 0\nunder_oom 0\n"), std::nullopt) << "a kernel before 4.13";
  EXPECT_EQ(oom_kills("oom_kill x\n"), std::nullopt);
  EXPECT_EQ(oom_kills(""), std::nullopt);
}

TEST(MemoryLimit, NoLimitHasTwoSpellings) {
  EXPECT_EQ(memory_limit("2147483648\n"), 2147483648U);
  EXPECT_EQ(memory_limit("max\n"), std::nullopt);
  EXPECT_EQ(memory_limit("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(memory_limit(""), std::nullopt);
}

TEST(MemoryCgroups, TheOwnGroupComesBeforeThoseAboveAndV1BeforeV2) {
  const auto groups =
      memory_cgroups("5:cpu,cpuacct:/x\n0::/a/b\n4:hugetlb,memory:/job\nnonsense\n");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_FALSE(groups[0].v2);
  EXPECT_THAT(groups[0].folders, ElementsAre("/job", ""));
  EXPECT_TRUE(groups[1].v2);
  EXPECT_THAT(groups[1].folders, ElementsAre("/a/b", "/a", ""));
}

TEST(MemoryCgroups, OfAGroupOutsideOfWhatIsSeenTheRootIsLookedAt) {
  EXPECT_THAT(memory_cgroups("0::/../../outside\n").at(0).folders, ElementsAre(""));
}

TEST(SizeText, HasTheUnitThatFits) {
  EXPECT_EQ(size_text(2147483648), "2 GiB");
  EXPECT_EQ(size_text(1610612736), "1.5 GiB");
  EXPECT_EQ(size_text(100), "100 bytes");
}

// A folder that stands for /sys/fs/cgroup.
class OomCounterTest : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + ("/" + file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const test::TemporaryFolder temporary_;
  const std::string root_ = temporary_.path();
};

TEST_F(OomCounterTest, OnlyARiseIsAProof) {
  write("a/memory.events", "oom_kill 3\n");
  const OomCounter counter(root_, "0::/a\n");
  EXPECT_FALSE(counter.risen());
  write("a/memory.events", "oom_kill 5\n");
  ASSERT_TRUE(counter.risen());
  EXPECT_EQ(counter.risen()->kills, 2U);
  EXPECT_EQ(counter.risen()->limit, std::nullopt);
}

TEST_F(OomCounterTest, TheLowestLimitOfTheGroupAndThoseAboveCounts) {
  write("a/b/memory.events", "oom_kill 0\n");
  write("a/b/memory.max", "max\n");
  write("a/memory.max", "4096\n");
  write("memory.max", "8192\n");
  const OomCounter counter(root_, "0::/a/b\n");
  write("a/b/memory.events", "oom_kill 1\n");
  EXPECT_EQ(counter.risen()->limit, 4096U);
  EXPECT_EQ(describe(*counter.risen()), "killed by the kernel: out of memory, cgroup limit 4 KiB");
}

TEST_F(OomCounterTest, V1) {
  write("memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
  write("memory/job/memory.limit_in_bytes", "1048576\n");
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  const OomCounter counter(root_, "4:memory:/job\n0::/\n");
  write("memory/job/memory.oom_control", "oom_kill 1\n");
  EXPECT_EQ(counter.risen()->limit, 1048576U);
}

TEST_F(OomCounterTest, InAContainerTheNamesOfTheHostAreNotThere) {
  write("memory.events", "oom_kill 0\n");
  const OomCounter counter(root_, "4:memory:/docker/abc\n0::/docker/abc\n");
  write("memory.events", "oom_kill 1\n");
  EXPECT_TRUE(counter.risen());
}

TEST_F(OomCounterTest, WithoutACounterNothingIsProven) {
  const OomCounter counter(root_, "0::/a\n");
  write("a/memory.events", "oom_kill 9\n");
  EXPECT_FALSE(counter.risen()) << "it was not there before the workers";
  EXPECT_FALSE(OomCounter(root_, "").risen());
}

TEST(OutOfMemoryReport, SigkillIsTheKernelsOnlyWhereItIsProven) {
  Job job(2);
  job.fail_first(1, died(SIGKILL), 1s);
  EXPECT_THAT(job.text(), HasSubstr("SIGKILL (killed, sender unknown) after 1.000 s"));
  job.facts.out_of_memory = OutOfMemory{1, std::uint64_t{2} << 30};
  EXPECT_THAT(job.text(),
              HasSubstr("rank 1 failed first: SIGKILL (killed by the kernel: out of memory, cgroup "
                        "limit 2 GiB) after 1.000 s"));
  job.fail_first(1, died(SIGSEGV), 1s);
  EXPECT_THAT(job.text(), HasSubstr("SIGSEGV (segmentation fault)"));
}

}  // namespace
}  // namespace ddprun::report
