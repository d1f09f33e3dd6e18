// What becomes of the memory that tensors on the CPU give back.
#pragma once

#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {

// From now on glibc keeps up to 512 MiB of what was freed, in blocks of up to 32 MiB, instead of
// giving it back to the system, which has to clear each page when it is wanted again. Nothing
// happens, and the answer is false, where the user has set one of glibc's own variables for this
// (MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, GLIBC_TUNABLES), or with another C library.
bool keep_freed_memory(const Lookup& lookup);

}  // namespace ddp::detail
