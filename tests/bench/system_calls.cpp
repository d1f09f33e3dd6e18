#include "tests/bench/system_calls.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace ddprun::bench {
namespace {

constexpr char kStrace[] = "/usr/bin/strace";

// A line is "PID call(…) = result". The launcher's second process never calls execve; what a
// process does after its own execve is the worker's business, except in the first one.
int launcher_calls(const std::string& file) {
  std::ifstream trace(file);
  std::map<std::string, bool> has_become_worker;
  std::string first, pid, call;
  int calls = 0;
  while (trace >> pid && std::getline(trace, call)) {
    if (first.empty()) first = pid;
    if (has_become_worker[pid] || call.find("+++") != std::string::npos) continue;
    // A call that another process interrupted is shown twice.
    if (call.find("resumed>") == std::string::npos && call.find("---") == std::string::npos)
      ++calls;
    if (pid != first && call.find(" execve(") != std::string::npos) has_become_worker[pid] = true;
  }
  return calls;
}

int calls_of(const Words& command) {
  const std::string file =
      std::filesystem::temp_directory_path() / ("ddprun-bench-calls." + std::to_string(::getpid()));
  time_of(Words{kStrace, "-f", "-qq", "-o", file} + command);
  const int calls = launcher_calls(file);
  std::filesystem::remove(file);
  return calls;
}

}  // namespace

std::string why_no_system_calls() {
  if (::access(kStrace, X_OK) != 0) return "no strace";
  ObservedProcess strace({kStrace, "-qq", "-o", "/dev/null", "/bin/true"});
  return strace.wait() == 0 ? "" : "strace may not trace here";
}

double calls_per_worker(const Words& few, const Words& many, int more) {
  return static_cast<double>(calls_of(many) - calls_of(few)) / more;
}

}  // namespace ddprun::bench
