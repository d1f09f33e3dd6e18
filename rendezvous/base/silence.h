// Whether the other side of a connection has been silent for too long, asked by a process that may
// be stopped itself: Ctrl-Z, a scheduler's suspend, a laptop that sleeps. Whoever was stopped could
// not hear, so after that the whole limit begins anew.
//
// Pure. Its owner looks at next_look(), and again at that of each look.
#pragma once

#include <chrono>

namespace ddprun {

class Silence {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Nothing was heard yet. `limit`: more than 0.
  Silence(Time now, std::chrono::nanoseconds limit) : limit_(limit), looked_(now) {}

  void heard(Time now) {
    silent_ = silent_.zero();
    looked_ = now;
  }

  Time next_look() const { return looked_ + period(); }
  // True where it has been silent for the limit or longer.
  bool is_too_long(Time now) {
    const auto passed = now - looked_;
    looked_ = now;
    silent_ = passed > kLate * period() ? silent_.zero() : silent_ + passed;
    return silent_ >= limit_;
  }

 private:
  static constexpr int kLooks = 4;  // within the limit
  static constexpr int kLate = 2;   // periods without a look: this process was stopped

  std::chrono::nanoseconds period() const { return limit_ / kLooks; }

  std::chrono::nanoseconds limit_;
  std::chrono::nanoseconds silent_{0};  // at the last look
  Time looked_;
};

}  // namespace ddprun
