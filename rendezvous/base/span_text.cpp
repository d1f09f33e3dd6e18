#include "rendezvous/base/span_text.h"

#include <algorithm>

namespace ddprun {

using namespace std::chrono_literals;

std::string span_text(std::chrono::nanoseconds span) {
  span = std::max(span, std::chrono::nanoseconds::zero());
  if (span < 10s && span % 1s >= 100ms) {
    const auto tenths = span / 100ms;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  }
  const auto seconds = span / 1s;
  if (seconds < 1000) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
}

}  // namespace ddprun
