// What a function throws, for tests of messages.
#pragma once

#include <exception>
#include <string>

namespace ddp::detail::test {

// Empty if it throws nothing.
template <class Function>
std::string error_of(Function&& function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace ddp::detail::test
