#include "worker_sdk/src/backend_names.h"

#include <sstream>

#include "ddp/error.h"

namespace ddp::detail {

BackendNames parse_backend(const std::string& text, int rank) {
  if (text == "gloo") return {.gloo = true, .nccl = false};
  if (text == "nccl") return {.gloo = false, .nccl = true};
  BackendNames names;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    bool* const named =
        part == "cpu:gloo" ? &names.gloo : (part == "cuda:nccl" ? &names.nccl : nullptr);
    if (!named || *named) {
      throw Error(rank, "init_process_group: unknown backend " + text +
                            "; there are gloo, nccl and cpu:gloo,cuda:nccl");
    }
    *named = true;
  }
  return names;
}

}  // namespace ddp::detail
