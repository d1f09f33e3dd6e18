// Whether values that were read fit where they go, found out before anything is changed.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace ddp::detail {

// Why the values of `from` cannot be copied into the dense tensor `to`: "is [3], expected [2]", "is
// a sparse tensor, expected a dense one". Empty if they can.
std::string misfit(const at::Tensor& to, const at::Tensor& from);

}  // namespace ddp::detail
