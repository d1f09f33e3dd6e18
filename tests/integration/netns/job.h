// A job whose nodes are hosts of a Network.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/netns/network.h"

namespace ddprun::test {

constexpr const char* kPort = "29400";  // free in a new namespace

// A test that needs hosts; skipped, with the reason, where there can be none.
class NetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Network::why_not(); !why.empty()) GTEST_SKIP() << why;
  }
};

// The same with a network of its own.
template <int kHosts>
class HostsTest : public NetworkTest {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    if (!IsSkipped()) network_.emplace(kHosts);
  }
  Network& network() { return *network_; }

 private:
  std::optional<Network> network_;
};

// sh -c `script`.
Words shell(const std::string& script);

enum class Meeting { fixed, arrival };

struct NetworkJob {
  Network* network = nullptr;
  Meeting meeting = Meeting::fixed;
  std::string nodes;     // "4", "2:3" by arrival
  Words options;         // of all nodes
  int endpoint_at = 0;   // the host whose address is the endpoint
  bool by_name = false;  // its name is
  std::string run = {};  // the run id; empty: the default

  // The ddprun of host `index`, with one worker; given ranks count as the hosts do.
  std::unique_ptr<Program> node(int index, const Words& command, RunOptions run_options = {}) const;
  // One on each host.
  std::vector<std::unique_ptr<Program>> all_nodes(const Words& command,
                                                  RunOptions run_options = {}) const;
};

// Their ends, in order.
std::vector<Finished> finish(const std::vector<std::unique_ptr<Program>>& nodes);

}  // namespace ddprun::test
