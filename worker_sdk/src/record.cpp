#include "ddp/record.h"

#include <string>

#include "worker_sdk/src/failure.h"

namespace ddp {

int record(const std::function<int()>& body) {
  detail::Failure failure;
  try {
    return body();
  } catch (...) {
    failure = detail::current_failure();
  }
  // The file first: the launcher may end this process as soon as another one has failed.
  const std::string problem = detail::write_down(failure);
  if (!problem.empty()) detail::tell("ddp::record: " + problem);
  detail::tell(failure.message);
  detail::tell_peers(failure);
  // The groups end with the process: to leave them would be to wait for what they have begun.
  return 1;
}

int record(int (*body)(int, char**), int argc, char** argv) {
  return record([&] { return body(argc, argv); });
}

}  // namespace ddp
