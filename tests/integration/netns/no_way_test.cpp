// A host that cannot reach the endpoint says so in one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/netns/job.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class NoWayTest : public HostsTest<2>, public testing::WithParamInterface<Meeting> {
 protected:
  // How host 1 ends that cannot reach host 0.
  Finished end_of_second() {
    const NetworkJob job{&network(), GetParam(), "2", {"--rdzv-conf", "join_timeout=2"}};
    const auto first = job.node(0, shell("exit 0"));
    EXPECT_TRUE(first->wait_for_error("1 of 2 nodes"));
    Finished second = job.node(1, shell("exit 0"))->finish();
    const Finished end = first->finish();
    EXPECT_EQ(end.code, 125) << end.err;
    return second;
  }
};

INSTANTIATE_TEST_SUITE_P(, NoWayTest, testing::Values(Meeting::fixed, Meeting::arrival),
                         [](const auto& each) {
                           return each.param == Meeting::fixed ? "Fixed" : "ByArrival";
                         });

TEST_P(NoWayTest, WithoutARouteTheLastLineSaysSo) {
  network().host(1).remove_routes();
  const Finished end = end_of_second();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(lines(end.err).back(),
              AllOf(HasSubstr("10.77.0.1:29400 could not be reached within 2 s: "),
                    HasSubstr("network is unreachable")));
}

TEST_P(NoWayTest, WhereNobodyAnswersTheLastLineSaysSo) {
  network().host(1).silence();
  const Finished end = end_of_second();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(lines(end.err).back(),
              AllOf(HasSubstr("10.77.0.1:29400 could not be reached within 2 s: "),
                    HasSubstr(": no answer in time")));
}

}  // namespace
}  // namespace ddprun::test
