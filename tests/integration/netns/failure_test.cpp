// A worker fails on one host, and all of them tell the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/netns/job.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// All meet; then one rank fails and the others would sleep.
Words failing(int rank) {
  return shell(std::string(DDPRUN_TEST_WORKER) + " store 1 key >/dev/null; [ $RANK = " +
               std::to_string(rank) + " ] || exec sleep 60; echo the reason >&2; exit 7");
}

class FailureTest : public NetworkTest,
                    public testing::WithParamInterface<std::tuple<int, Meeting>> {};

INSTANTIATE_TEST_SUITE_P(, FailureTest,
                         testing::Combine(testing::Values(0, 2),
                                          testing::Values(Meeting::fixed, Meeting::arrival)));

TEST_P(FailureTest, AllNameTheSameRankAndHostAndEndWithItsCode) {
  const auto [rank, meeting] = GetParam();
  Network network(3);
  const NetworkJob job{&network, meeting, "3"};
  const auto nodes = job.all_nodes(failing(rank));
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 7) << end.err;
    EXPECT_THAT(
        end.err,
        AllOf(HasSubstr("ddprun: rank " + std::to_string(rank) + " failed first: exit code 7"),
              HasSubstr(network.host(rank).name()), HasSubstr("    | the reason\n")));
  }
}

}  // namespace
}  // namespace ddprun::test
