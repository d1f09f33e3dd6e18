// Sixteen hosts: a world of the size that people have, in bounded time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <set>

#include "tests/integration/netns/job.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kHosts = 16;
// Each of them is a process that is started on a machine with two cores.
constexpr std::chrono::seconds kBound{15};

const Words kIntroduce =
    shell(std::string("exec 2>&1; echo rank $RANK of $WORLD_SIZE on ") +
          "$(hostname), master $MASTER_ADDR; exec " + DDPRUN_TEST_WORKER + " store 2 key");
const std::string kMeet = std::string(DDPRUN_TEST_WORKER) + " store 1 key >/dev/null || exit 9; ";

class SixteenHosts : public HostsTest<kHosts>, public testing::WithParamInterface<Meeting> {
 protected:
  NetworkJob job(const Words& options = {}) {
    return {.network = &network(),
            .meeting = GetParam(),
            .nodes = std::to_string(kHosts),
            .options = options};
  }
};

INSTANTIATE_TEST_SUITE_P(, SixteenHosts, testing::Values(Meeting::fixed, Meeting::arrival),
                         [](const auto& each) {
                           return each.param == Meeting::fixed ? "Fixed" : "ByArrival";
                         });

TEST_P(SixteenHosts, FormOneWorld) {
  const auto nodes = job().all_nodes(kIntroduce);
  std::set<std::string> ranks;
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 0) << end.out << end.err;
    EXPECT_THAT(end.out, AllOf(HasSubstr(" of 16 on netns"), HasSubstr(", master 10.77.0."),
                               HasSubstr("met")));
    EXPECT_LT(end.took, kBound);
    ranks.insert(end.out.substr(0, end.out.find(" of ")));
  }
  EXPECT_EQ(ranks.size(), static_cast<std::size_t>(kHosts)) << "each rank once";
}

TEST_P(SixteenHosts, AllHearOfAFailureOnOne) {
  const auto nodes = job().all_nodes(
      shell(kMeet + "[ $RANK = 11 ] || exec sleep 60; echo the reason >&2; exit 7"));
  std::set<std::string> hosts;
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 7) << end.err;
    EXPECT_THAT(end.err, AllOf(HasSubstr("ddprun: rank 11 failed first: exit code 7"),
                               HasSubstr("    | the reason\n")));
    EXPECT_LT(end.took, kBound);
    const std::size_t at = end.err.find("\n  host netns");
    ASSERT_NE(at, std::string::npos) << end.err;
    hosts.insert(end.err.substr(at, end.err.find(',', at) - at));
  }
  EXPECT_EQ(hosts.size(), 1u) << "all name the same host";
}

// Its cable is pulled, so nobody tells them that it is gone.
TEST_P(SixteenHosts, AllHearThatOneHasFallenSilent) {
  const auto nodes =
      job({"--rdzv-conf", "keep_alive_interval=1,keep_alive_max_attempt=3"})
          .all_nodes(shell(kMeet + "echo up; exec sleep 60"), {.limit = std::chrono::seconds(40)});
  for (const auto& node : nodes) ASSERT_TRUE(node->wait_for_output("up"));
  network().host(9).silence();
  const auto silent_since = std::chrono::steady_clock::now();
  for (int index = 0; index < kHosts; ++index) {
    const Finished end = nodes[static_cast<std::size_t>(index)]->finish();
    EXPECT_EQ(end.code, 125) << end.err;
    EXPECT_THAT(end.err, index == 9 ? HasSubstr("ddprun: ")
                                    : HasSubstr("node netns10 is lost: it did not answer"));
    EXPECT_LT(std::chrono::steady_clock::now() - silent_since, kBound);
  }
}

}  // namespace
}  // namespace ddprun::test
