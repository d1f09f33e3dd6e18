#include <csignal>
#include <cstring>
#include <string>

#include "launcher/report/report.h"

namespace ddprun::report {
namespace {

const char* meaning(int signal) {
  switch (signal) {
    case SIGABRT:
      return "aborted";
    case SIGBUS:
      return "bus error";
    case SIGFPE:
      return "arithmetic error";
    case SIGHUP:
      return "hangup";
    case SIGILL:
      return "illegal instruction";
    case SIGINT:
      return "interrupted";
    case SIGKILL:
      return "killed, sender unknown";
    case SIGPIPE:
      return "wrote to a closed pipe";
    case SIGSEGV:
      return "segmentation fault";
    case SIGSYS:
      return "forbidden system call";
    case SIGTERM:
      return "terminated";
    case SIGTRAP:
      return "trap";
    case SIGXCPU:
      return "CPU time limit exceeded";
    case SIGXFSZ:
      return "file size limit exceeded";
    default:
      return "";
  }
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string describe(const supervise::WaitStatus& status) {
  if (status.kind == supervise::WaitStatus::Kind::exited) {
    return "exit code " + std::to_string(status.value);
  }
  std::string remarks = meaning(status.value);
  if (status.core_dumped) remarks += remarks.empty() ? "core dumped" : ", core dumped";
  return signal_name(status.value) + (remarks.empty() ? "" : " (" + remarks + ")");
}

}  // namespace ddprun::report
