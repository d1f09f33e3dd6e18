// What a ddp::Work handle points to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "worker_sdk/src/group_state.h"

namespace ddp::detail {

struct WorkState {
  c10::intrusive_ptr<c10d::Work> work;
  std::shared_ptr<GroupState> group;
  std::string what;  // the operation's name
  WaitsFor waits_for;
  std::vector<at::Tensor> results;
  bool only_whole_waits = false;  // the backend cannot stop waiting for it
  // What the backend leaves to us; called once, after it has succeeded. May be empty.
  std::function<void()> finish;
  // wait() and a future may want it at the same time, on two threads.
  std::once_flag finished;
};

// `work.wait(timeout)`, 0 for no limit; throws ddp::Error where that has passed and the operation
// goes on, which is no failure of it and nobody's fault.
void wait_for(c10d::Work& work, std::chrono::milliseconds timeout, int global_rank,
              const std::string& what);

}  // namespace ddp::detail
