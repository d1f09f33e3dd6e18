// Entry points of libddp_nccl.so, called through dlsym. Both sides are built from the same tree
// against the same LibTorch, so objects of c10d may cross.
#pragma once

#include <cstddef>
#include <cstdint>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

extern "C" {

// A new NCCL backend; the caller owns the one reference that it has. `device` of 0 or more connects
// at once on that GPU, -1 at the first collective. On failure null, and the reason in `reason`.
[[gnu::visibility("default")]] c10d::Backend* ddp_nccl_make_backend(
    c10d::Store* store, int rank, int size, int device, std::int64_t timeout_ms,
    const char* group_name, char* reason, std::size_t reason_size);

// Ends the communicators of a backend made here.
[[gnu::visibility("default")]] void ddp_nccl_shut_down(c10d::Backend* backend);

// Versions of NCCL as 10000 * major + 100 * minor + patch: of the header this was built with, and
// of the library that is loaded. They must agree.
[[gnu::visibility("default")]] int ddp_nccl_header_version();
[[gnu::visibility("default")]] int ddp_nccl_loaded_version();

}  // extern "C"
