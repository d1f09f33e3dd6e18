// Which CPUs each worker gets.
#include "launcher/placement/bindings.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/unit/placement/topologies.h"

namespace ddprun::placement {
namespace {

using cli::BindMode;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CpuList range(int first, int last) {
  CpuList list(static_cast<std::size_t>(last - first + 1));
  std::iota(list.begin(), list.end(), first);
  return list;
}

const CpuList kAll = range(0, 63);

// Workers whose GPUs are at these NUMA nodes; -1: the kernel does not say.
std::vector<Seat> gpus_at(const std::vector<int>& nodes) {
  std::vector<Seat> seats;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    seats.push_back({"0000:0" + std::to_string(i) + ":00.0", nodes[i]});
    if (nodes[i] < 0) seats.back().gpu_node.reset();
  }
  return seats;
}

std::vector<std::string> texts(const std::vector<Binding>& bindings) {
  std::vector<std::string> result;
  for (const Binding& binding : bindings) result.push_back(range_text(binding.cpus));
  return result;
}

std::vector<Binding> bind(const std::vector<int>& nodes, BindMode mode,
                          const CpuList& allowed = kAll) {
  return bindings(two_sockets(), gpus_at(nodes), mode, allowed);
}

std::vector<Binding> bind_cpu_workers(std::size_t count, const CpuList& allowed = kAll) {
  return bindings(two_sockets(), std::vector<Seat>(count), BindMode::cores, allowed);
}

TEST(BindNodeTest, TheNodeIsThatOfTheGpuWhateverTheRank) {
  const auto found = bind({3, 0, 3}, BindMode::node);
  EXPECT_THAT(texts(found), ElementsAre("48-63", "0-15", "48-63"));
  EXPECT_THAT(found[0].nodes, ElementsAre(3));
  EXPECT_EQ(found[0].reason, "NUMA node 3, where its GPU is");
  EXPECT_TRUE(found[0].as_asked);
}

TEST(BindNodeTest, OnlyAllowedCpusAreGiven) {
  EXPECT_THAT(texts(bind({0, 1}, BindMode::node, range(4, 19))), ElementsAre("4-15", "16-19"));
}

TEST(BindNodeTest, ANodeThatMayNotBeUsedBindsNobody) {
  const auto found = bind({0, 3}, BindMode::node, range(0, 7));
  EXPECT_THAT(texts(found), ElementsAre("0-7", ""));
  EXPECT_FALSE(found[1].as_asked);
  EXPECT_EQ(found[1].reason,
            "none of the CPUs of NUMA node 3, where GPU 0000:01:00.0 is, may be used by this "
            "process");
}

TEST(BindNodeTest, AnUnknownNodeBindsNobodyUnlessThereIsOnlyOne) {
  const auto found = bind({-1}, BindMode::node);
  EXPECT_THAT(found[0].cpus, IsEmpty());
  EXPECT_FALSE(found[0].as_asked);
  EXPECT_THAT(found[0].reason, HasSubstr("does not say which NUMA node GPU 0000:00:00.0 is at"));
  Topology one;
  for (int id = 0; id < 4; ++id) one.cpus.push_back({id, id, 0, 0, 0});
  const auto single = bindings(one, gpus_at({-1}), BindMode::node, range(0, 3));
  EXPECT_EQ(range_text(single[0].cpus), "0-3");
  EXPECT_TRUE(single[0].as_asked);
}

TEST(BindSocketTest, IsAllNodesOfTheSocket) {
  const auto found = bind({0, 2, 3}, BindMode::socket);
  EXPECT_THAT(texts(found), ElementsAre("0-31", "32-63", "32-63"));
  EXPECT_THAT(found[0].nodes, ElementsAre(0, 1));
  EXPECT_THAT(texts(bind({0}, BindMode::socket, range(8, 40))), ElementsAre("8-31"));
}

TEST(BindExclusiveTest, WorkersOfANodeShareItsCores) {
  EXPECT_THAT(texts(bind({1, 1, 0}, BindMode::exclusive)), ElementsAre("16-23", "24-31", "0-15"));
  // Eight cores for three workers: the first two get one more.
  EXPECT_THAT(texts(bind({0, 0, 0}, BindMode::exclusive)), ElementsAre("0-5", "6-11", "12-15"));
}

TEST(BindExclusiveTest, ThreadsOfACoreStayTogether) {
  Topology topology;  // the second threads are numbered behind all first ones
  for (int core = 0; core < 4; ++core)
    for (int thread = 0; thread < 2; ++thread)
      topology.cpus.push_back({core + 4 * thread, core, 0, 0, 0});
  EXPECT_THAT(texts(bindings(topology, gpus_at({0, 0}), BindMode::exclusive, range(0, 7))),
              ElementsAre("0-1,4-5", "2-3,6-7"));
  // Where only one thread of a core is allowed, the other one is not given.
  EXPECT_THAT(texts(bindings(topology, gpus_at({0, 0}), BindMode::exclusive, {0, 1, 2, 3, 5})),
              ElementsAre("0-1,5", "2-3"));
}

TEST(BindExclusiveTest, MoreWorkersThanCoresShareThemAndThatIsSaid) {
  const auto found = bind({0, 0, 0}, BindMode::exclusive, {0, 1, 2, 3});
  EXPECT_THAT(texts(found), ElementsAre("0-1", "0-1", "2-3"));
  EXPECT_FALSE(found[0].as_asked);
  EXPECT_EQ(found[0].reason,
            "3 workers share the 2 cores of NUMA node 0, so some run on the same core");
}

TEST(BindCoreComplexTest, WorkersOfANodeTakeItsCachesInTurn) {
  EXPECT_THAT(texts(bind({1, 1, 1, 0}, BindMode::core_complex)),
              ElementsAre("16-23", "24-31", "16-23", "0-7"));
}

TEST(BindCoreComplexTest, TheCacheWithMoreAllowedCpusComesFirst) {
  EXPECT_THAT(texts(bind({0, 0}, BindMode::core_complex, range(5, 15))),
              ElementsAre("8-15", "5-7"));
}

TEST(BindCoresTest, CpuWorkersGetEqualShares) {
  const auto found = bind_cpu_workers(4);
  EXPECT_THAT(texts(found), ElementsAre("0-15", "16-31", "32-47", "48-63"));
  EXPECT_EQ(found[0].reason, "an equal share of the 32 cores of this process");
  EXPECT_THAT(texts(bind_cpu_workers(3, range(0, 9))), ElementsAre("0-3", "4-7", "8-9"));
  EXPECT_THAT(bind_cpu_workers(3)[1].nodes, ElementsAre(1, 2));
}

TEST(BindCoresTest, EveryModeMeansCoresWithoutGpus) {
  for (const BindMode mode :
       {BindMode::node, BindMode::socket, BindMode::exclusive, BindMode::core_complex}) {
    EXPECT_THAT(texts(bindings(two_sockets(), {{}, {}}, mode, kAll)), ElementsAre("0-31", "32-63"));
  }
}

TEST(BindCoresTest, AskedForItCountsForGpuWorkersToo) {
  EXPECT_THAT(texts(bind({3, 0}, BindMode::cores)), ElementsAre("0-31", "32-63"));
}

TEST(BindCoresTest, FiveHundredWorkersOnTwoCores) {
  const auto found = bind_cpu_workers(512, range(0, 3));
  ASSERT_THAT(found, SizeIs(512));
  EXPECT_EQ(range_text(found.front().cpus), "0-1");
  EXPECT_EQ(range_text(found[255].cpus), "0-1");
  EXPECT_EQ(range_text(found[256].cpus), "2-3");
  EXPECT_EQ(range_text(found.back().cpus), "2-3");
}

TEST(BindTest, AWorkerWithoutAGpuAmongOthersIsLeftAlone) {
  auto seats = gpus_at({0});
  seats.emplace_back();
  const auto found = bindings(two_sockets(), seats, BindMode::node, kAll);
  EXPECT_THAT(texts(found), ElementsAre("0-15", ""));
  EXPECT_FALSE(found[1].as_asked);
}

TEST(BindTest, NoneBindsNobodyAndSaysNothing) {
  for (const Binding& binding : bind({0, 1}, BindMode::none)) {
    EXPECT_THAT(binding.cpus, IsEmpty());
    EXPECT_TRUE(binding.as_asked);
  }
}

TEST(BindTest, ATopologyOfOtherCpusBindsNobody) {
  for (const BindMode mode : {BindMode::node, BindMode::cores}) {
    const auto found = bind({0}, mode, range(100, 103));
    EXPECT_THAT(found[0].cpus, IsEmpty());
    EXPECT_THAT(found[0].reason, HasSubstr("(100-103)"));
  }
}

TEST(CpuSharesTest, SharedCpusCountInParts) {
  EXPECT_THAT(cpu_shares(bind({0, 0, 0, 3}, BindMode::node)), ElementsAre(5, 5, 5, 16));
  EXPECT_THAT(cpu_shares(bind({0, 0, 0}, BindMode::exclusive)), ElementsAre(6, 6, 4));
  EXPECT_THAT(cpu_shares(bind_cpu_workers(3, {0, 1, 2})), ElementsAre(1, 1, 1));
  EXPECT_THAT(cpu_shares(bind({-1}, BindMode::node)), ElementsAre(0));
}

TEST(CpuSharesTest, ThreeThirdsAreOne) {
  const auto three = bind({0, 0, 0}, BindMode::node, range(0, 5));
  EXPECT_THAT(cpu_shares(three), Each(2));
}

}  // namespace
}  // namespace ddprun::placement
