// What an asynchronous collective returns: ask whether it has ended, wait for it, take its result.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <exception>
#include <memory>
#include <vector>

#include "ddp/export.h"
#include "ddp/future.h"

namespace ddp {

namespace detail {
struct WorkState;  // owns c10d's Work; src/work_state.h
}

// One started operation; copies mean the same one. Its tensors must not be touched, and a copy must
// be kept, until wait() has returned. The empty Work, that of an operation which did nothing
// because this rank is outside the group, counts as completed. Belongs to the thread that trains.
// PyTorch: torch.distributed.Work.
class DDP_API Work {
 public:
  // The empty Work; the other is what the collectives return.
  Work() = default;
  explicit Work(std::shared_ptr<detail::WorkState> state) : state_(std::move(state)) {}

  // Whether wait() would return at once; never blocks. With Gloo isend and irecv are completed only
  // by wait().
  bool is_completed() const;
  // Completed, and without a failure. May block as exception() does.
  bool is_success() const;

  // Returns when the result is there; on CUDA, when later work of the current stream will see it.
  // Throws ddp::Error if the operation failed. May be called again.
  void wait();
  // The same, but throws ddp::Error when `timeout` has passed; the operation itself goes on, and
  // can be waited for again. On CUDA the CPU waits. `timeout` must be longer than zero. Throws for
  // isend and irecv with Gloo, where it would be the end of the group.
  void wait(std::chrono::milliseconds timeout);

  // Waits like wait(), then the tensors that the operation wrote on this rank.
  std::vector<at::Tensor> result();

  // The first of those tensors, as soon as it is there, for then(); of the empty Work an undefined
  // one. Throws ddp::Error for isend and irecv with Gloo.
  Future get_future() const;

  // The ddp::Error with which a completed operation failed, else null. After a failure it may block
  // for up to a second, once, to find out which rank was it.
  std::exception_ptr exception() const;

  // After irecv and wait(): the global rank that sent; -1 before that and for other operations.
  int source_rank() const;

 private:
  void wait_at_most(std::chrono::milliseconds timeout);  // 0: without limit

  std::shared_ptr<detail::WorkState> state_;
};

}  // namespace ddp
