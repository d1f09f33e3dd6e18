#include "launcher/process/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "launcher/process/children.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::process {
namespace {

std::string status_of(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[8192];
  const ssize_t got = file ? ::read(file.get(), buffer, sizeof buffer) : -1;
  return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : std::string();
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
    const bool member = std::find(leaders.begin(), leaders.end(), ::getpgid(pid)) != leaders.end();
    if (member && catches(status_of(pid), signo) && ::kill(pid, signo) == 0) ++sent;
  }
  return sent;
}

}  // namespace ddprun::process
