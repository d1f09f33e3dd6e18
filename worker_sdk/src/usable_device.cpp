#include "worker_sdk/src/usable_device.h"

#include <algorithm>

#include "ddp/error.h"
#include "worker_sdk/src/checkpoint_file.h"
#include "worker_sdk/src/cuda_plugin.h"

namespace ddp::detail {

void require_usable(const c10::Device& device, const std::string& what) {
  if (!device.is_cuda()) return;
  const int ordinal = std::max<int>(device.index(), 0);  // plain "cuda" is the current one
  const std::string why_not = why_unusable(process_environment(), ordinal, usable_gpus());
  if (why_not.empty()) return;
  throw Error(rank_for_messages(),
              what + ": " + why_not + "; ddp::local_device() returns this rank's GPU, or the CPU");
}

}  // namespace ddp::detail
