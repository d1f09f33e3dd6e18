#include "ddp/record.h"

#include <exception>
#include <string>

#include "ddp/process_group.h"
#include "worker_sdk/src/failure.h"
#include "worker_sdk/src/group_state.h"

namespace ddp {
namespace {

// NCCL's orderly end would wait for kernels that wait for other ranks; the end of the process does
// not.
void leave_groups() {
  try {
    if (is_initialized() && !detail::resolve({}, "record")->nccl) destroy_process_group();
  } catch (const std::exception& error) {
    detail::tell(std::string("ddp::record: destroy_process_group: ") + error.what());
  }
}

}  // namespace

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
  leave_groups();
  return 1;
}

int record(int (*body)(int, char**), int argc, char** argv) {
  return record([&] { return body(argc, argv); });
}

}  // namespace ddp
