// A port of the loopback interface on which nobody listens, for as long as this object lives.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace ddprun::test {

class LoopbackPort {
 public:
  LoopbackPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, generic, size) != 0 || getsockname(fd_, generic, &size) != 0) {
      throw std::runtime_error("no port");
    }
    number_ = ntohs(address.sin_port);
  }
  ~LoopbackPort() { close(fd_); }
  LoopbackPort(const LoopbackPort&) = delete;
  LoopbackPort& operator=(const LoopbackPort&) = delete;

  std::uint16_t number() const { return number_; }
  int descriptor() const { return fd_; }
  // From now on connections are accepted.
  void listen() {
    if (::listen(fd_, 4) != 0) throw std::runtime_error("listen");
  }

 private:
  int fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t number_ = 0;
};

}  // namespace ddprun::test
