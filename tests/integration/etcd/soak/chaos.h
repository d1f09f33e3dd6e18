// Kills and stops members of etcd and rdzvds again and again, and lets them come back, while others
// run jobs on them. On a thread of its own, which is also the parent of what it starts.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/etcd/real_etcd.h"
#include "tests/integration/etcd/soak/tally.h"
#include "tests/support/dice.h"

namespace ddprun::etcd_soak {

class Chaos {
 public:
  // Starts three of each; throws where they do not come up. `most` kills are done, and some stops
  // between them. Most wait for the phase of a job that has had the fewest. Logs go into `folder`.
  Chaos(std::string rdzvd, std::string folder, std::uint64_t seed, int most);
  // Ends all.
  ~Chaos();

  // For ddprun --rdzv-endpoint.
  const std::string& endpoints() const { return endpoints_; }
  void set_phase(Phase phase) { phase_ = phase; }
  // All kills were done, and all that was killed or stopped runs again.
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
    bool member = false;   // of etcd, else an rdzvd
    bool stopped = false;  // else killed
    int number = 0;
  };

  void run();
  void start_all();
  void start_rdzvd(int number);
  void aim();
  void watch_phase();
  bool is_time() const;
  void try_to_strike();
  bool strike();
  bool strike_rdzvd(bool stop);
  bool strike_member(bool stop);
  void count(const std::string& what, bool stop);
  void revive();
  void bring_back(const Due& due);
  bool is_away(bool member, int number) const;
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
  Phase seen_ = Phase::ending;  // of the job, when it was looked at last
  // The next strike: not before, and in this phase, at that time after its beginning; without a
  // phase in any.
  std::optional<Phase> wanted_;
  Clock::time_point not_before_, in_phase_at_;
  std::atomic<bool> over_ = false, stopped_ = false, ready_ = false, failed_ = false;
  Tally tally_;
  std::thread thread_;
};

}  // namespace ddprun::etcd_soak
