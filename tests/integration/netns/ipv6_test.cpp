// A network without IPv4: all addresses are IPv6, and have brackets where a port follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/netns/job.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

const Words kIntroduce =
    shell(std::string("exec 2>&1; echo rank $RANK of $WORLD_SIZE, master $MASTER_ADDR; exec ") +
          DDPRUN_TEST_WORKER + " store 2 key");

class Ipv6Test : public NetworkTest, public testing::WithParamInterface<Meeting> {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    if (!IsSkipped()) network_.emplace(3, Family::ipv6);
  }
  NetworkJob job(const Words& options = {}) {
    return {.network = &*network_, .meeting = GetParam(), .nodes = "3", .options = options};
  }

  std::optional<Network> network_;
};

INSTANTIATE_TEST_SUITE_P(, Ipv6Test, testing::Values(Meeting::fixed, Meeting::arrival),
                         [](const auto& each) {
                           return each.param == Meeting::fixed ? "Fixed" : "ByArrival";
                         });

TEST_P(Ipv6Test, AWorldForms) {
  const auto nodes = job().all_nodes(kIntroduce);
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 0) << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr(" of 3, master fd77::1\n"));
    EXPECT_THAT(end.out, HasSubstr("met"));
  }
}

TEST_P(Ipv6Test, AFailureIsToldWithTheSameCause) {
  const auto nodes =
      job().all_nodes(shell(std::string(DDPRUN_TEST_WORKER) +
                            " store 1 key >/dev/null; [ $RANK = 2 ] || exec sleep 60; exit 7"));
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 7) << end.err;
    EXPECT_THAT(end.err, HasSubstr("rank 2 failed first: exit code 7"));
  }
}

TEST_P(Ipv6Test, TheEndpointHasBracketsInMessages) {
  const auto alone = job({"--rdzv-conf", "join_timeout=2"}).node(1, kIntroduce);
  const Finished end = alone->finish();
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr("[fd77::1]:29400 could not be reached within 2 s: "));
}

// A daemon that listens on one address, and one that listens on all of them.
TEST_P(Ipv6Test, RdzvdIsFound) {
  for (const bool exactly : {true, false}) {
    const Host& host = network_->host(0);
    const auto rdzvd = host.start(
        {DDPRUN_RDZVD, "--listen", exactly ? host.endpoint(kPort) : std::string(":") + kPort});
    ASSERT_TRUE(rdzvd->wait_for_output(kPort)) << rdzvd->finish().err;
    EXPECT_THAT(rdzvd->out(), HasSubstr(exactly ? "[fd77::1]:29400\n" : ":29400\n"));
    NetworkJob with_daemon = job({"--rdzv-conf", "is_host=0"});
    with_daemon.run = "job";
    const auto nodes = with_daemon.all_nodes(kIntroduce);
    for (const Finished& end : finish(nodes)) {
      EXPECT_EQ(end.code, 0) << end.out << end.err;
      EXPECT_THAT(end.out, HasSubstr("met"));
    }
    ::kill(rdzvd->pid(), SIGTERM);
    EXPECT_EQ(rdzvd->finish().code, 0);
  }
}

}  // namespace
}  // namespace ddprun::test
