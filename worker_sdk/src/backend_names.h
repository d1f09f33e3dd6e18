// Which backends the text of InitOptions::backend names. No LibTorch.
#pragma once

#include <string>

namespace ddp::detail {

struct BackendNames {
  bool gloo = false, nccl = false;
};

// "gloo", "nccl", or a list of "cpu:gloo" and "cuda:nccl". Throws ddp::Error, for `rank`, on
// anything else.
BackendNames parse_backend(const std::string& text, int rank);

}  // namespace ddp::detail
