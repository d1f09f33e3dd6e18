#include "rendezvous/rdzvd/service_manager.h"

#include <fcntl.h>
#include <netinet/in.h>
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

std::optional<std::uint16_t> listening_port(int fd) {
  int listens = 0;
  socklen_t size = sizeof listens;
  sockaddr_storage address{};
  socklen_t address_size = sizeof address;
  if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &address_size) != 0)
    return {};
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return {};
  // The port lies at the same place in both families.
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
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
  UniqueFd socket(kFirstListenFd);
  const auto port = listening_port(socket.get());
  if (!port)
    return Error{"what the service manager hands over as descriptor 3 is no listening TCP socket"};
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  return std::optional(server::Listener{std::move(socket), *port});
}

}  // namespace ddprun::rdzvd
