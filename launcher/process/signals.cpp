#include "launcher/process/signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "launcher/process/children.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::process {
namespace {

std::string status_of(pid_t pid) {
  return read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace

bool catches(std::string_view status_text, int signo) {
  constexpr std::string_view kField = "\nSigCgt:\t";
  const std::size_t at = status_text.find(kField);
  if (at == std::string_view::npos) return false;
  const std::string_view digits = status_text.substr(at + kField.size(), 16);
  std::uint64_t mask = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), mask, 16);
  return (mask >> (signo - 1) & 1) != 0;
}

int signal_catchers(const std::vector<pid_t>& leaders, int signo) {
  int sent = 0;
  // Not only the leaders' own descendants: a member that was forked twice has become our child.
  for (pid_t pid : descendants_of(::getpid())) {
    const bool member = contains(leaders, ::getpgid(pid));
    if (member && catches(status_of(pid), signo) && ::kill(pid, signo) == 0) ++sent;
  }
  return sent;
}

std::vector<pid_t> stop_descendants() {
  std::vector<pid_t> seen, stopped;
  for (bool found_more = true; found_more;) {
    found_more = false;
    // What was started while we looked is found in the next pass.
    for (pid_t pid : descendants_of(::getpid())) {
      if (contains(seen, pid)) continue;
      seen.push_back(pid);
      found_more = true;
      if (!is_stopped(pid) && ::kill(pid, SIGSTOP) == 0) stopped.push_back(pid);
    }
  }
  return stopped;
}

void continue_descendants(const std::vector<pid_t>& stopped) {
  const std::vector<pid_t> descendants = descendants_of(::getpid());
  for (auto pid = descendants.rbegin(); pid != descendants.rend(); ++pid)
    if (contains(stopped, *pid)) ::kill(*pid, SIGCONT);
}

}  // namespace ddprun::process
