// TORCH_DIST_INIT_BARRIER=1: nobody leaves init_process_group or new_group before all have come.
#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace ddp::detail {

// Whether the variable asks for it. Throws ddp::Error for text that is no number.
bool wants_init_barrier();

// Python's barrier through the store, with its keys: `ranks` processes must call it with the same
// group name and store. Throws ddp::Error that begins with `what`, with how many came
// and, if none of them is Python's, which ranks did not.
void init_barrier(c10d::Store& store, const std::string& group_name, int ranks, int global_rank,
                  std::chrono::milliseconds timeout, const std::string& what);

}  // namespace ddp::detail
