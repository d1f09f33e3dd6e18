// Hosts form a world: each worker knows its own host, and where node rank 0 is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/integration/netns/job.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

// Says who it is, and meets all others in the store.
const Words kIntroduce =
    shell(std::string("exec 2>&1; echo rank $RANK of $WORLD_SIZE on ") +
          "$(hostname), master $MASTER_ADDR; exec " + DDPRUN_TEST_WORKER + " store 2 key");

class FormingTest : public NetworkTest,
                    public testing::WithParamInterface<std::tuple<int, Meeting>> {
 protected:
  int hosts() const { return std::get<int>(GetParam()); }
  Meeting meeting() const { return std::get<Meeting>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(, FormingTest,
                         testing::Combine(testing::Values(2, 4),
                                          testing::Values(Meeting::fixed, Meeting::arrival)),
                         [](const auto& each) {
                           return std::to_string(std::get<int>(each.param)) +
                                  (std::get<Meeting>(each.param) == Meeting::fixed ? "Fixed"
                                                                                   : "ByArrival");
                         });

TEST_P(FormingTest, EachHostReportsItsOwnNameAndTheAddressOfNodeRankZero) {
  Network network(hosts());
  const NetworkJob job{&network, meeting(), std::to_string(hosts())};
  const auto nodes = job.all_nodes(kIntroduce);
  for (int index = 0; index < hosts(); ++index) {
    const Finished end = nodes[static_cast<std::size_t>(index)]->finish();
    const std::string rank = std::to_string(index);  // by arrival in the order of names
    EXPECT_EQ(end.code, 0) << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr("rank " + rank + " of " + std::to_string(hosts()) + " on " +
                                   network.host(index).name() + ", master " +
                                   network.host(0).address() + "\n"));
    EXPECT_THAT(end.out, HasSubstr("met"));
  }
}

// The server is on the last host, so what node rank 0 says of itself is what the others hear.
TEST_P(FormingTest, NodeRankZeroIsFoundByTheAddressOfItsInterface) {
  Network network(hosts() + 1);
  const Host& server = network.host(hosts());
  const auto rdzvd = server.start({DDPRUN_RDZVD, "--listen", server.address() + ":" + kPort});
  ASSERT_TRUE(rdzvd->wait_for_output(kPort)) << rdzvd->out();
  const NetworkJob job{.network = &network,
                       .meeting = meeting(),
                       .nodes = std::to_string(hosts()),
                       .endpoint_at = hosts(),
                       .run = "job"};
  std::vector<std::unique_ptr<Program>> nodes;
  for (int index = 0; index < hosts(); ++index) nodes.push_back(job.node(index, kIntroduce));
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 0) << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr(", master " + network.host(0).address() + "\n"));
  }
}

// A usual line in /etc/hosts: where the name is at home it means loopback, which would lead the
// others to themselves.
TEST_P(FormingTest, ANameThatIsLoopbackAtHomeLeadsTheOthersToTheInterface) {
  Network network(hosts());
  const TemporaryFolder folder;
  const auto file = [&](const std::string& name, const std::string& address) {
    std::ofstream(folder / name) << "127.0.0.1 localhost\n" << address << " netns1\n";
    return folder / name;
  };
  network.host(0).set_hosts_file(file("at_home", "127.0.1.1"));
  for (int index = 1; index < hosts(); ++index)
    network.host(index).set_hosts_file(file("elsewhere", network.host(0).address()));
  const NetworkJob job{
      .network = &network, .meeting = meeting(), .nodes = std::to_string(hosts()), .by_name = true};
  const auto nodes = job.all_nodes(kIntroduce);
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 0) << end.out << end.err;
    EXPECT_THAT(end.out, HasSubstr(", master " + network.host(0).address() + "\n"));
  }
}

// Given node ranks, and an endpoint that is no address of the first node's host.
class ForeignEndpointTest : public HostsTest<3> {
 protected:
  // Node `rank` of 2, whose endpoint is this address.
  std::unique_ptr<Program> node(int rank, const std::string& endpoint) {
    return network().host(rank).start(ddprun_words(
        {"--nnodes", "2", "-n", "1", "--node-rank", std::to_string(rank), "--master-addr", endpoint,
         "--master-port", kPort, "--rdzv-id", "job", "--", "sh", "-c", kIntroduce.back()}));
  }
  void expect_to_meet(const std::vector<std::unique_ptr<Program>>& nodes) {
    for (const Finished& end : finish(nodes)) {
      EXPECT_EQ(end.code, 0) << end.out << end.err;
      EXPECT_THAT(end.out, HasSubstr(", master " + network().host(0).address() + "\n"));
      EXPECT_THAT(end.out, HasSubstr("met"));
    }
  }
};

TEST_F(ForeignEndpointTest, ADaemonThatComesLaterIsJoined) {
  const Host& server = network().host(2);
  std::vector<std::unique_ptr<Program>> nodes;
  for (const int rank : {0, 1}) nodes.push_back(node(rank, server.address()));
  for (const auto& each : nodes)
    ASSERT_TRUE(each->wait_for_error("waiting for the rendezvous at 10.77.0.3:29400: connection"));
  const auto rdzvd = server.start({DDPRUN_RDZVD, "--listen", server.address() + ":" + kPort});
  expect_to_meet(nodes);
}

TEST_F(ForeignEndpointTest, AnAddressThatLeadsHereIsServed) {
  network().lead("10.99.0.1", 0);
  std::vector<std::unique_ptr<Program>> nodes;
  for (const int rank : {0, 1}) nodes.push_back(node(rank, "10.99.0.1"));
  expect_to_meet(nodes);
}

// As after a restart: the one before still tells its last words there.
TEST_F(ForeignEndpointTest, APortThatBecomesFreeLaterIsServed) {
  network().lead("10.99.0.1", 0);
  const auto other = network().host(0).start(
      {DDPRUN_RDZVD, "--listen", network().host(0).address() + ":" + kPort});
  ASSERT_TRUE(other->wait_for_output(kPort)) << other->out();
  std::vector<std::unique_ptr<Program>> nodes;
  nodes.push_back(node(0, "10.99.0.1"));
  ASSERT_TRUE(nodes[0]->wait_for_error("this node cannot host it"));
  ::kill(other->pid(), SIGTERM);
  nodes.push_back(node(1, "10.99.0.1"));
  expect_to_meet(nodes);
}

// As with an address that leads here from elsewhere only.
TEST_F(ForeignEndpointTest, WhoeverComesHereIsServed) {
  std::vector<std::unique_ptr<Program>> nodes;
  nodes.push_back(node(0, network().host(2).address()));
  ASSERT_TRUE(nodes[0]->wait_for_error("in case that it leads to this node"));
  nodes.push_back(node(1, network().host(0).address()));
  expect_to_meet(nodes);
}

}  // namespace
}  // namespace ddprun::test
