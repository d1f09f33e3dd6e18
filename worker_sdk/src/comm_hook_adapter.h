// Between ddp::CommHook and what c10d's Reducer calls.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <utility>

#include "ddp/comm_hook.h"
#include "worker_sdk/src/future_limits.h"
#include "worker_sdk/src/group_state.h"

namespace ddp::detail {

struct BucketState {
  c10d::GradBucket bucket;
  ProcessGroup group;
};

class CommHookAdapter : public c10d::CommHookInterface {
 public:
  CommHookAdapter(CommHook hook, std::string name, std::shared_ptr<GroupState> group)
      : hook_(std::move(hook)),
        name_(std::move(name)),
        limits_(group->timeout + kForItsCollectives),
        group_(std::move(group)) {}

  // Throws what the hook throws. Its future fails with ddp::Error if the tensor does not fit, or
  // if the hook's own is not completed in time.
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override;
  at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }

 private:
  // What a collective of the hook that times out has to say comes first.
  static constexpr std::chrono::seconds kForItsCollectives{2};

  std::exception_ptr too_late(std::size_t index) const;

  CommHook hook_;
  std::string name_;
  FutureLimits limits_;
  ProcessGroup group_;
};

// "fp16_compress_hook" and its like for a built-in hook, else "comm_hook".
std::string name_of(const CommHook& hook);

}  // namespace ddp::detail
