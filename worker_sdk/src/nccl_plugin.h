// Entry points of libddp_nccl.so, called through dlsym. Both sides are built from the same tree
// against the same LibTorch, so objects of c10d may cross.
#pragma once

#include <cstddef>
#include <cstdint>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

extern "C" {

// GPUs that CUDA can use, 0 and the reason if there are none or the driver is no good.
[[gnu::visibility("default")]] int ddp_cuda_device_count(char* reason, std::size_t reason_size);

// A new NCCL backend; the caller owns the one reference that it has. It is the one that Python's
// "nccl" is: nccl2 where LibTorch has it (2.15) and TORCH_DIST_USE_NCCL2 is not 0, else the older.
// `device` of 0 or more connects at once on that GPU; -1 at the first collective, or, with nccl2,
// at once on the current GPU. On failure null, and the reason in `reason`.
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
