#include "launcher/report/names.h"

namespace ddprun::report {

const char* name_of(supervise::Cause cause) {
  switch (cause) {
    case supervise::Cause::success:
      return "success";
    case supervise::Cause::worker_failed:
      return "worker_failed";
    case supervise::Cause::exec_failed:
      return "exec_failed";
    case supervise::Cause::stop_signal:
      return "stop_signal";
    case supervise::Cause::guardian_lost:
      return "guardian_lost";
    case supervise::Cause::progress_timeout:
      return "progress_timeout";
    case supervise::Cause::exit_grace:
      return "exit_grace";
    case supervise::Cause::timeout:
      return "timeout";
    case supervise::Cause::ended_elsewhere:
      return "ended_elsewhere";
  }
  return "unknown";
}

const char* name_of(supervise::Ending ending) {
  switch (ending) {
    case supervise::Ending::exited_zero:
      return "exited_zero";
    case supervise::Ending::failed_first:
      return "failed_first";
    case supervise::Ending::failed_after:
      return "failed_after";
    case supervise::Ending::stopped:
      return "stopped";
    case supervise::Ending::still_running:
      return "still_running";
    case supervise::Ending::not_started:
      return "not_started";
  }
  return "unknown";
}

}  // namespace ddprun::report
