// The element types of checkpoints and those of LibTorch.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "worker_sdk/src/checkpoint/dtype.h"

namespace ddp::detail {

c10::ScalarType to_scalar_type(DType type);

// Nothing for types that no checkpoint holds.
std::optional<DType> to_dtype(c10::ScalarType type);

}  // namespace ddp::detail
