// Turns whatever LibTorch throws into ddp::Error.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "ddp/error.h"

namespace ddp::detail {

// How a reason is worded for people.
using Explain = std::function<std::string(const std::string& reason)>;

inline std::string as_it_is(const std::string& reason) {
  return reason;
}

// Called inside a catch block: throws ddp::Error "[rank R] WHAT failed: reason". A ddp::Error
// passes.
[[noreturn]] inline void rethrow_translated(int rank, const std::string& what,
                                            const Explain& explain = as_it_is) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    throw Error(rank, what + " failed: " + explain(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw Error(rank, what + " failed: " + explain(error.what()));
  }
}

// Calls `action` and returns its result.
template <class Action>
auto translated(int rank, const std::string& what, Action&& action,
                const Explain& explain = as_it_is) {
  try {
    return std::forward<Action>(action)();
  } catch (...) {
    rethrow_translated(rank, what, explain);
  }
}

}  // namespace ddp::detail
