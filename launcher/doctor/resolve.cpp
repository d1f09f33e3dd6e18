#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "launcher/doctor/look.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::doctor {
namespace {

// "address\n" for each, or "!reason".
std::string answer_for(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (code != 0) return std::string("!") + ::gai_strerror(code);
  std::string text;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    char address[NI_MAXHOST];
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, address, sizeof address, nullptr, 0,
                      NI_NUMERICHOST) == 0)
      text += std::string(address) + "\n";
  }
  ::freeaddrinfo(found);
  return text;
}

[[noreturn]] void answer_and_end(const std::string& name, int out) {
  const std::string text = answer_for(name);
  const ssize_t written = ::write(out, text.data(), text.size());
  ::_exit(written < 0 ? 1 : 0);
}

// False when the patience is over before the end of what it writes.
bool read_all(int from, std::chrono::milliseconds patience, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd end{from, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&end, 1, static_cast<int>(left.count())) <= 0) return false;
    char buffer[4096];
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

HostName resolve(const std::string& name, std::chrono::milliseconds patience) {
  HostName host{.name = name};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return host;
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) answer_and_end(name, to.get());
  to.reset();
  std::string text;
  host.timed_out = child < 0 || !read_all(from.get(), patience, text);
  if (child > 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  if (host.timed_out) return host;
  if (text.starts_with('!')) {
    host.failure = text.substr(1);
    return host;
  }
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (std::ranges::find(host.addresses, line) == host.addresses.end())
      host.addresses.push_back(line);
  return host;
}

}  // namespace ddprun::doctor
