#include "rendezvous/rdzvd/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace ddprun::rdzvd {
namespace {

constexpr int kFirstListenFd = 3;

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  const std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

}  // namespace

ServiceManager::ServiceManager() : socket_(take_variable("NOTIFY_SOCKET")) {}

void ServiceManager::tell(const std::string& state) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // an abstract one
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<sockaddr*>(&address), size);
}

Result<std::optional<server::Listener>> take_listener() {
  const std::string pid = take_variable("LISTEN_PID");
  const std::string count = take_variable("LISTEN_FDS");
  take_variable("LISTEN_FDNAMES");
  if (pid != std::to_string(::getpid()) || count.empty() || count == "0")
    return std::optional<server::Listener>();
  if (count != "1")
    return Error{"the service manager hands over " + count +
                 " sockets (LISTEN_FDS), one is needed: leave one ListenStream= in the socket "
                 "unit; one on [::] takes IPv4 as well"};
  auto listener = server::adopt_listener(UniqueFd(kFirstListenFd));
  if (!listener) return Error{"what the service manager hands over as " + listener.error().text};
  return std::optional(std::move(*listener));
}

}  // namespace ddprun::rdzvd
