#include "worker_sdk/src/freed_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ddp::detail {

bool keep_freed_memory(const Lookup& lookup) {
  for (const char* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"}) {
    if (lookup(name)) return false;
  }
#ifdef __GLIBC__
  // Both or none: with the second alone blocks that glibc would have mapped are trimmed all the
  // more often, and a training has ten times as many page faults as without either.
  return mallopt(M_MMAP_THRESHOLD, 32 << 20) == 1 && mallopt(M_TRIM_THRESHOLD, 512 << 20) == 1;
#else
  return false;
#endif
}

}  // namespace ddp::detail
