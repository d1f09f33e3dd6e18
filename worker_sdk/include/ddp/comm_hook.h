// Communication hooks: how the gradients of a bucket become those of all ranks, instead of by an
// all_reduce that averages.
//
//   model.register_comm_hook(ddp::fp16_compress_hook);
//   model.register_comm_hook(
//       [](ddp::GradBucket& bucket) {
//         const auto half = bucket.buffer() / bucket.process_group().size();
//         return ddp::all_reduce(half, ddp::ReduceOp::SUM, bucket.process_group(), true)
//             .get_future();
//       },
//       "my_hook");
//
// PyTorch: torch.distributed.algorithms.ddp_comm_hooks.default_hooks. There a hook has a state as
// well; here that is what a lambda captures.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "ddp/export.h"
#include "ddp/future.h"
#include "ddp/process_group.h"

namespace ddp {

namespace detail {
struct BucketState;  // owns c10d's bucket; src/comm_hook_adapter.h
}

// Gradients that are sent together. Copies mean the same bucket; a hook may keep one until its
// future is completed.
// PyTorch: torch.distributed.GradBucket.
class DDP_API GradBucket {
 public:
  // For the SDK itself.
  explicit GradBucket(std::shared_ptr<detail::BucketState> state) : state_(std::move(state)) {}

  // Its place in the order in which buckets are ready: 0 is the first.
  std::size_t index() const;
  // Whether it is the last one of this backward.
  bool is_last() const;

  // This rank's gradients, not divided by the number of ranks: flat, one behind the other, [n]; or
  // the gradient itself, of layout sparse, of an embedding with sparse gradients. May be written.
  at::Tensor buffer() const;
  // Makes another tensor the buffer: for a hook that wraps another one.
  void set_buffer(const at::Tensor& buffer);
  // The gradients one by one, in the shapes of their parameters: views into buffer().
  std::vector<at::Tensor> gradients() const;
  // The parameters that they belong to, in the same order.
  std::vector<at::Tensor> parameters() const;

  // The group of the DistributedDataParallel. (In Python the hook's state, or the default group.)
  const ProcessGroup& process_group() const;

 private:
  std::shared_ptr<detail::BucketState> state_;
};

// Called for every bucket, in backward() or, in a rank without more inputs, at the end of join();
// then with zeros. Must start the same collectives on every rank. Returns the tensor that replaces
// buffer(), of its size, type and device, now or later: usually the average. One that fits in none
// of these is a ddp::Error out of backward(); what the hook throws, and what its future fails with,
// leaves backward() as it is.
// PyTorch: the argument `hook` of DistributedDataParallel.register_comm_hook.
using CommHook = std::function<Future(GradBucket& bucket)>;

// Divides by the number of ranks and adds up. Without a hook the same is computed in one pass over
// the gradients, so that the last bit may differ, as it does in Python.
// PyTorch: default_hooks.allreduce_hook.
DDP_API Future allreduce_hook(GradBucket& bucket);

// The same with 16 bits for each number: half as many bytes to send, three or two digits. Not for
// sparse gradients.
// PyTorch: default_hooks.fp16_compress_hook, bf16_compress_hook; the second there for GPUs only.
DDP_API Future fp16_compress_hook(GradBucket& bucket);
DDP_API Future bf16_compress_hook(GradBucket& bucket);

// `hook`, but it is given the bucket in 16 bits, and what it returns is converted back.
// PyTorch: default_hooks.fp16_compress_wrapper, bf16_compress_wrapper.
DDP_API CommHook fp16_compress_wrapper(CommHook hook);
DDP_API CommHook bf16_compress_wrapper(CommHook hook);

}  // namespace ddp
