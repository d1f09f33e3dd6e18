// Monotonic times as dates.
#pragma once

#include <chrono>
#include <string>

#include "launcher/supervise/outcome.h"

namespace ddprun::report {

// One moment on both clocks; other moments are told from their distance to it.
struct WallClock {
  supervise::Time steady{};
  std::chrono::system_clock::time_point wall{};

  static WallClock now() {
    return {std::chrono::steady_clock::now(), std::chrono::system_clock::now()};
  }
};

// "2026-11-29T23:49:10.123456789Z": ISO 8601, UTC, nanoseconds.
std::string iso_time(const WallClock& clock, supervise::Time when);

}  // namespace ddprun::report
