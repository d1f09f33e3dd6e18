// How a future that stands for another one ends.
#pragma once

#include <ATen/core/ivalue.h>

namespace ddp::detail {

// `to` ends as `from` has: with its value or its error. `from` is completed, and `to` is not.
inline void pass_on(c10::ivalue::Future& from, c10::ivalue::Future& to) {
  if (from.hasError()) return to.setError(from.exception_ptr());
  to.markCompleted(from.value());
}

}  // namespace ddp::detail
