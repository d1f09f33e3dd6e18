// What was done to which job, for the figures.
#pragma once

#include <array>
#include <map>
#include <string>

namespace ddprun::etcd_soak {

// What a job does at the moment.
enum class Phase { joining, running, restarting, ending };
inline constexpr std::array kPhases{Phase::joining, Phase::running, Phase::restarting,
                                    Phase::ending};
const char* name(Phase phase);

// How often each kind of thing was done in each phase.
class Tally {
 public:
  void add(const std::string& kind, Phase phase) { ++counts_[kind][phase]; }
  void add(const Tally& other);
  // Of all kinds that begin so.
  int of(const std::string& begin, Phase phase) const;
  int of(const std::string& begin) const;
  // A table, a line for each kind.
  std::string text() const;

 private:
  std::map<std::string, std::map<Phase, int>> counts_;
};

}  // namespace ddprun::etcd_soak
