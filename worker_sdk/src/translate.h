// Turns whatever LibTorch throws into ddp::Error.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ddp/error.h"

namespace ddp::detail {

// Why something failed, for people, and who did not take part in it, where that is known.
struct Reason {
  std::string text;
  std::vector<int> waited_for = {};  // global ranks
};

// Makes it of what LibTorch said.
using Explain = std::function<Reason(const std::string& said)>;

inline Reason as_it_is(const std::string& said) {
  return {said};
}

[[noreturn]] inline void throw_error(int rank, const std::string& what, const Reason& reason) {
  throw Error(rank, what + " failed: " + reason.text, reason.waited_for);
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
    throw_error(rank, what, explain(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    throw_error(rank, what, explain(error.what()));
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
