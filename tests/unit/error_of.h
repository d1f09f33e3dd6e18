// For tests of functions that throw.
#pragma once

#include <stdexcept>
#include <string>

namespace ddprun::test {

// The text of the std::runtime_error (ddp::Error is one) that `action` throws, or "nothing was
// thrown".
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace ddprun::test
