#include "ddp/record.h"

#include <cstdio>
#include <exception>
#include <string>

#include "ddp/process_group.h"
#include "worker_sdk/src/checkpoint_file.h"
#include "worker_sdk/src/failure.h"
#include "worker_sdk/src/group_state.h"

namespace ddp {
namespace {

// For people; the launcher shows it as this rank's last output. A ddp::Error names the rank itself.
void tell(const std::string& text) {
  const int rank = detail::rank_for_messages();
  const bool named = rank < 0 || text.find("[rank ") != text.npos;
  const std::string who = named ? "" : "[rank " + std::to_string(rank) + "] ";
  std::fprintf(stderr, "%s%s\n", who.c_str(), text.c_str());
}

// NCCL's orderly end would wait for kernels that wait for other ranks; the end of the process does
// not.
void leave_groups() {
  try {
    if (is_initialized() && !detail::resolve({}, "record")->nccl) destroy_process_group();
  } catch (const std::exception& error) {
    tell(std::string("ddp::record: destroy_process_group: ") + error.what());
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
  if (!problem.empty()) tell("ddp::record: " + problem);
  tell(failure.message);
  detail::tell_peers(failure);
  leave_groups();
  return 1;
}

int record(int (*body)(int, char**), int argc, char** argv) {
  return record([&] { return body(argc, argv); });
}

}  // namespace ddp
