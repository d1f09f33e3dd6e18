// Kills members of etcd and rdzvds again and again, and starts them again, while others run jobs on
// them. On a thread of its own, which is also the parent of what it starts.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/etcd/real_etcd.h"
#include "tests/support/dice.h"

namespace ddprun::etcd_soak {

// What the jobs do at the moment, for the figures.
enum class Phase { joining, running, restarting, ending };
const char* name(Phase phase);

struct Tally {
  int kills = 0;
  std::map<std::string, int> by_kind;  // "head", "rdzvd", "leader of etcd", "member of etcd"
  std::map<std::string, int> by_phase;
};

class Chaos {
 public:
  // Starts three of each; throws where they do not come up. `most` kills are done. Logs go into
  // `folder`.
  Chaos(std::string rdzvd, std::string folder, std::uint64_t seed, int most);
  // Ends all.
  ~Chaos();

  // For ddprun --rdzv-endpoint.
  const std::string& endpoints() const { return endpoints_; }
  void set_phase(Phase phase) { phase_ = phase; }
  // All kills were done, and all that was killed runs again.
  bool is_over() const { return over_; }
  // Behind the end of is_over() only.
  const Tally& tally() const { return tally_; }
  int count_keys() const { return etcd_->count_keys(kPrefix); }

 private:
  static constexpr int kRdzvds = 3;
  static constexpr const char* kPrefix = "/soak/";
  using Clock = std::chrono::steady_clock;
  struct Due {
    Clock::time_point at;
    bool member = false;  // of etcd, else an rdzvd
    int number = 0;
  };

  void run();
  void start_all();
  void start_rdzvd(int number);
  void strike();
  bool strike_rdzvd();
  bool strike_member();
  void revive();
  int head() const;
  std::chrono::milliseconds between(int least, int most);

  std::string rdzvd_, folder_;
  test::Dice dice_;
  int most_;
  std::vector<std::string> ports_;
  std::string endpoints_;
  std::unique_ptr<test::RealEtcd> etcd_;
  std::vector<std::unique_ptr<test::Program>> rdzvds_;
  std::vector<Due> dead_;
  std::atomic<Phase> phase_ = Phase::joining;
  std::atomic<bool> over_ = false, stopped_ = false, ready_ = false, failed_ = false;
  Tally tally_;
  std::thread thread_;
};

}  // namespace ddprun::etcd_soak
