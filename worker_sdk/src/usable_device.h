// Refuses a GPU that this process cannot use, before LibTorch does so in words of its own.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace ddp::detail {

// Throws ddp::Error "[rank R] WHAT: cuda:1 does not exist, …". Looks for GPUs only if `device` is
// one.
void require_usable(const c10::Device& device, const std::string& what);

}  // namespace ddp::detail
