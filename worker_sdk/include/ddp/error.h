// The one exception that the SDK throws.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "ddp/export.h"

namespace ddp {

// What failed, on which rank, and what to do next. Thrown by every function of the SDK, by
// collectives, and with Gloo out of `loss.backward()` when the averaging of gradients fails. (With
// NCCL that is noticed later, by NCCL's watchdog, which ends the process with a text of its own.)
// what() begins with "[rank N] " as soon as the rank is known.
//
// PyTorch: torch.distributed.DistError and its subclasses; here there is one class.
class DDP_API Error : public std::runtime_error {
 public:
  // `text` without the rank; `rank` is -1 where it is not known.
  Error(int rank, const std::string& text, std::vector<int> waited_for = {});
  ~Error() override;  // not inline: one type_info for the program and the library

  // The global rank that threw, or -1 if it failed before it knew its rank.
  int rank() const { return rank_; }

  // After a time-out: the global ranks that did not take part, where they can be told; else empty.
  // ddp::record passes them on, and ddprun then names them instead of the rank that gave up.
  const std::vector<int>& waited_for() const { return waited_for_; }

 private:
  int rank_;
  std::vector<int> waited_for_;
};

}  // namespace ddp
