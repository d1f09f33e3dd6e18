// Nodes of one language each train one model in one group: two ddpruns on this host.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <chrono>
#include <memory>
#include <set>

#include "tests/integration/netns/network.h"
#include "tests/integration/support/loopback_port.h"
#include "tests/interop/mixed/sums.h"

namespace ddprun::test {
namespace {

using testing::SizeIs;

enum class Language { cpp, python };

// A job of two nodes with two ranks each.
class MixedNodesTest : public testing::TestWithParam<Language> {
 protected:
  // Of the node that hosts the store; the other node has the other language.
  static bool first_is_python() { return GetParam() == Language::python; }

  static Words words_of(int rank, const Words& meeting) {
    Words words{"--nnodes", "2", "-n", "2", "--device", "cpu"};
    words.insert(words.end(), meeting.begin(), meeting.end());
    const bool python = first_is_python() == (rank == 0);
    const Words command = python ? Words{"--", getenv("DDPRUN_INTEROP_PYTHON"), MIXED_RANK_PY}
                                 : Words{"--", MIXED_RANK};
    words.insert(words.end(), command.begin(), command.end());
    return ddprun_words(std::move(words));
  }
  static RunOptions with(const Words& environment) {
    return {.environment = environment, .input = {}, .limit = std::chrono::seconds(90)};
  }
  static std::unique_ptr<Program> node(int rank, const Words& meeting,
                                       const Words& environment = {}) {
    return std::make_unique<Program>(words_of(rank, meeting), with(environment));
  }
  std::unique_ptr<Program> fixed_node(int rank, const Words& environment = {}) const {
    return node(
        rank,
        {"--node-rank", std::to_string(rank), "--master-addr", "127.0.0.1", "--master-port", port_},
        environment);
  }

  // They trained one model, two ranks in each language.
  static void expect_one_group(const std::unique_ptr<Program>& first,
                               const std::unique_ptr<Program>& second) {
    const Finished ends[] = {first->finish(), second->finish()};
    std::set<std::string> different;
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(ends[rank].code, 0) << ends[rank].out << ends[rank].err;
      const auto found = sums(ends[rank].out, first_is_python() == (rank == 0) ? "Python" : "C++");
      EXPECT_THAT(found, SizeIs(2)) << ends[rank].out;
      different.insert(found.begin(), found.end());
    }
    EXPECT_THAT(different, SizeIs(1)) << ends[0].out << ends[1].out;
  }

  const std::string port_ = std::to_string(LoopbackPort().number());
};

INSTANTIATE_TEST_SUITE_P(, MixedNodesTest, testing::Values(Language::cpp, Language::python),
                         [](const auto& each) {
                           return each.param == Language::cpp ? "CppHosts" : "PythonHosts";
                         });

// By arrival the store of the round is behind a port of its own.
TEST_P(MixedNodesTest, MeetByArrivalAsWell) {
  const Words meeting{"--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:" + port_};
  const auto first = node(0, meeting);
  // It hosts the server, and so it has node rank 0.
  ASSERT_TRUE(first->wait_for_error("1 of 2 nodes"));
  const auto second = node(1, meeting);
  expect_one_group(first, second);
}

// MASTER_ADDR is the bare address then, which is what PyTorch's clients take.
TEST_P(MixedNodesTest, MeetWhereThereIsIpv6Only) {
  if (const std::string why = Network::why_not(); !why.empty()) GTEST_SKIP() << why;
  Network network(2, Family::ipv6);
  std::vector<std::unique_ptr<Program>> nodes;
  for (int rank = 0; rank < 2; ++rank)
    nodes.push_back(network.host(rank).start(
        words_of(rank, {"--node-rank", std::to_string(rank), "--master-addr",
                        network.host(0).address(), "--master-port", "29500"}),
        with({"GLOO_SOCKET_IFNAME=eth0"})));  // Gloo asks for the address of the host's name
  expect_one_group(nodes[0], nodes[1]);
}

TEST_P(MixedNodesTest, AScriptMayOpenStoresOfItsOwn) {
  const auto first = fixed_node(0, {"OWN_STORES=1"});
  const auto second = fixed_node(1, {"OWN_STORES=1"});
  Program& python = first_is_python() ? *first : *second;
  for (const char* libuv : {"True", "False"})
    EXPECT_TRUE(
        python.wait_for_output(std::string("met [1, 2] in a store of its own, libuv ") + libuv));
  expect_one_group(first, second);
}

}  // namespace
}  // namespace ddprun::test
