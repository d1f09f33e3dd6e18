// What a ddp::Future points to.
#pragma once

#include <ATen/core/ivalue.h>

namespace ddp::detail {

struct FutureState {
  c10::intrusive_ptr<c10::ivalue::Future> future;
};

}  // namespace ddp::detail
