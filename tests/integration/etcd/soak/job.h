// One job of the soak: three nodes, a worker each, of which one or two fail, and where two nodes
// are enough one is lost, in any phase.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/etcd/soak/chaos.h"
#include "tests/support/dice.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::etcd_soak {

class Job {
 public:
  Job(std::string ddprun, const std::string& endpoints, std::uint64_t seed);

  // Runs it to its end, and tells `chaos` where it is. Returns what went wrong; empty: nothing.
  std::string play(Chaos& chaos);
  // The nodes that were killed.
  const Tally& tally() const { return tally_; }
  // "seed 3: 2:3 nodes, 1 failure, a node lost".
  std::string description() const;

 private:
  void start_node(int number);
  void lose_node(Phase phase);
  bool join();
  bool restart();
  bool all_say(const std::string& text);
  void pause(int most);
  void touch(const std::string& name);
  std::string finish();

  static constexpr int kNodes = 3;
  std::string ddprun_, endpoints_;
  std::uint64_t seed_;
  test::Dice dice_;
  bool elastic_;                     // two of the three nodes are enough
  int failures_;                     // of workers, one after the other
  std::optional<Phase> loses_node_;  // then
  int failed_ = 0;
  Tally tally_;
  const test::TemporaryFolder folder_;
  std::vector<std::unique_ptr<test::Program>> nodes_;
};

}  // namespace ddprun::etcd_soak
