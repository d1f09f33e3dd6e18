// Uneven inputs: ranks that have no more batches take part in what the others still do.
#pragma once

#include <memory>

#include "ddp/export.h"

namespace ddp {

namespace detail {
class DataParallelCore;
}

// PyTorch: the arguments of DistributedDataParallel.join().
struct JoinOptions {
  // Divide gradients by the number of all ranks, so that every sample of the job has the same
  // weight; false: by the number of those that still have inputs.
  bool divide_by_initial_world_size = true;
  // False: every rank has as many inputs, and nothing is to be done.
  bool enable = true;
  // As soon as one rank has no more inputs, all throw ddp::Error: that rank where its guard ends,
  // the others out of forward. For models with collectives of their own, such as SyncBatchNorm.
  bool throw_on_early_termination = false;
};

// What join() of a DistributedDataParallel returns; put it before the loop over the inputs:
//
//   const auto guard = model.join();
//   for (const auto& batch : batches) { … backward, step … }
//
// Where it goes out of scope without an exception this rank has joined: it answers the collectives
// of the others with zeros until they have joined as well, then takes the parameters, and with
// broadcast_buffers the buffers, of the rank that joined last. Its destructor may throw ddp::Error,
// so keep it a local variable. If an exception leaves the loop it does nothing, and the other ranks
// fail or time out. join() throws ddp::Error for embeddings with sparse gradients and for
// skip_all_reduce_unused_params.
//
// Afterwards forward is as before. Not so in Python, in a group with Python ranks, and in one with
// backend "nccl", where the SDK does not know whether there are any: there it goes on to count the
// ranks that have inputs, and all of them must take part in every forward.
// PyTorch: DistributedDataParallel.join(), a context manager.
class [[nodiscard]] DDP_API JoinGuard {
 public:
  // What join() calls.
  JoinGuard(std::shared_ptr<detail::DataParallelCore> core, const JoinOptions& options);
  ~JoinGuard() noexcept(false);
  JoinGuard(const JoinGuard&) = delete;
  JoinGuard& operator=(const JoinGuard&) = delete;

  // Joins now instead of in the destructor.
  void finish();

 private:
  std::shared_ptr<detail::DataParallelCore> core_;
  int exceptions_;
};

}  // namespace ddp
