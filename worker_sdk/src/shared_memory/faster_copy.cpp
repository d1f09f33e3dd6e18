#include "worker_sdk/src/shared_memory/faster_copy.h"

#include <algorithm>

namespace ddp::detail {

FasterCopy::Way FasterCopy::next() const {
  return static_cast<Way>(in_trial() ? 1 - usual_ : usual_);
}

void FasterCopy::took(std::size_t bytes, std::chrono::nanoseconds time) {
  const double cost = static_cast<double>(time.count()) / static_cast<double>(bytes);
  const unsigned turn = copies_ % kPeriod;
  const unsigned same_way_before = in_trial() ? turn - (kPeriod - kTrial) : turn;
  if (same_way_before >= kNotCounted) {
    double& known = cost_[static_cast<std::size_t>(next())];
    // One that was interrupted says little.
    known = known == 0 ? cost : known + (std::min(cost, 4 * known) - known) / 4;
  }
  if (++copies_ % kPeriod == 0) usual_ = cost_[1] < cost_[0] ? 1 : 0;
}

}  // namespace ddp::detail
