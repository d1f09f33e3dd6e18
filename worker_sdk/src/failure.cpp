#include "worker_sdk/src/failure.h"

#include <c10/util/Exception.h>
#include <c10/util/Type.h>
#include <cxxabi.h>

#include <exception>
#include <typeinfo>

#include "ddp/process_group.h"
#include "worker_sdk/src/group_state.h"

namespace ddp::detail {
namespace {

// Of one that is no std::exception.
std::string type_of_current() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return type != nullptr ? c10::demangle(type->name()) : "unknown";
}

std::string type_of(const std::exception& error) {
  return c10::demangle(typeid(error).name());
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const c10::Error& error) {
    return {type_of(error) + ": " + error.what_without_backtrace(), error.what()};
  } catch (const std::exception& error) {
    const std::string message = type_of(error) + ": " + error.what();
    const auto* own = dynamic_cast<const Error*>(&error);
    return {message, message, own != nullptr ? own->waited_for() : std::vector<int>{}};
  } catch (...) {
    const std::string message = "an exception of type " + type_of_current();
    return {message, message};
  }
}

void tell_peers(const Failure& failure) {
  if (!is_initialized()) return;
  const auto peers = resolve({}, "record")->peers;
  if (peers) peers->note_own_end(failure.message);
}

}  // namespace ddp::detail
