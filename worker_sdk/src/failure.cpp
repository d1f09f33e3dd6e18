#include "worker_sdk/src/failure.h"

#include <c10/util/Exception.h>
#include <c10/util/Type.h>
#include <cxxabi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <mutex>
#include <typeinfo>

#include "ddp/process_group.h"
#include "worker_sdk/src/checkpoint_file.h"
#include "worker_sdk/src/error_file.h"
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

std::terminate_handler usual_terminate = nullptr;

// Gloo throws it in its own thread, where nobody can catch it.
std::string remark_on(const std::string& message) {
  if (message.find("gloo::EnforceNotMet") == std::string::npos) return "";
  return ". The ranks have called a collective with tensors of different sizes or types, or "
         "different collectives: TORCH_DISTRIBUTED_DEBUG=DETAIL names them";
}

[[noreturn]] void report_and_terminate() {
  static std::atomic<bool> begun = false;  // another thread may fail meanwhile
  if (std::current_exception() && !begun.exchange(true)) {
    Failure failure = current_failure();
    failure.message += remark_on(failure.message);
    write_down(failure);  // the usual handler says the rest
    tell(failure.message);
  }
  usual_terminate();
  std::abort();
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

void tell(const std::string& text) {
  const int rank = rank_for_messages();
  const bool named = rank < 0 || text.find("[rank ") != text.npos;
  const std::string who = named ? "" : "[rank " + std::to_string(rank) + "] ";
  std::fprintf(stderr, "%s%s\n", who.c_str(), text.c_str());
}

std::string write_down(const Failure& failure) {
  const char* path = std::getenv("TORCHELASTIC_ERROR_FILE");
  if (path == nullptr || *path == '\0') return "";
  return write_error_file(
      path, error_json(failure.message, failure.stack, std::time(nullptr), failure.waited_for));
}

void report_uncaught_exceptions() {
  static std::once_flag once;
  std::call_once(once, [] { usual_terminate = std::set_terminate(report_and_terminate); });
}

void tell_peers(const Failure& failure) {
  if (!is_initialized()) return;
  const auto peers = resolve({}, "record")->peers;
  if (peers) peers->note_own_end(failure.message);
}

}  // namespace ddp::detail
