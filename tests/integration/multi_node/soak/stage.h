// Plays one round of the soak with real processes, and looks for what it has left behind.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/multi_node/soak/actions.h"
#include "tests/integration/multi_node/soak/daemon.h"
#include "tests/integration/multi_node/soak/outcome.h"
#include "tests/integration/multi_node/soak/relay.h"
#include "tests/integration/support/run.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::nodes_soak {

struct Programs {
  std::string ddprun, rdzvd, rdzvctl, worker;
};

struct RoundResult {
  Observation seen;
  std::string wrong;  // empty when nothing was; else with all that helps to understand it
};

class Stage {
 public:
  // Why there can be none on this machine; empty: there can.
  static std::string why_not();

  // Makes this process the one to which every process of a round falls that loses its parent. Only
  // for programs that have no other children. Throws where rdzvd does not start.
  explicit Stage(Programs programs);

  // Plays the round and looks. What is left is killed and removed.
  RoundResult play(const Scenario& scenario);

  // The rendezvous of all rounds that do not hurt it.
  const Daemon& daemon() const { return lasting_; }

 private:
  struct Node {
    int number = 0;
    bool again = false;
    std::unique_ptr<test::Program> ddprun;
  };

  void set_up(const Scenario& scenario);
  void start_node(const Scenario& scenario, int node, bool again);
  std::string act_out(const Scenario& scenario);
  void perform(const Scenario& scenario);
  void begin(const Scenario& scenario, std::size_t index);
  void end(const Scenario& scenario, const Fault& fault);
  int hit_worker(const Scenario& scenario, const Fault& fault);
  void cancel(const Scenario& scenario);
  void release();
  bool wait_for_world();
  bool all_ended() const;
  test::Program& ddprun_of(int node);
  std::vector<Met> met() const;
  Observation finish();
  std::string left_processes() const;
  std::string left_files(const Observation& seen) const;
  std::string left_run(const Scenario& scenario) const;
  void clear();

  Programs programs_;
  test::TemporaryFolder folder_;
  std::string mark_;  // in the environment of every process of a round
  Daemon lasting_;
  std::unique_ptr<Daemon> fragile_;
  Daemon* present_ = nullptr;
  std::array<std::unique_ptr<Relay>, kNodes> relays_;
  std::vector<Node> nodes_;
  std::vector<int> ranks_;
};

}  // namespace ddprun::nodes_soak
