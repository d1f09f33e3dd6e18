// An address of the loopback interface at which connections get no answer, as at a host without
// power.
#pragma once

#include <poll.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {

// A listener whose queue is full: the kernel drops what comes then.
class BlackHole {
 public:
  BlackHole() {
    if (::listen(port_.descriptor(), 0) != 0) throw std::runtime_error("listen");
    for (bool took = true; took;) took = fill();
  }
  std::string text() const { return "127.0.0.1:" + std::to_string(port_.number()); }

 private:
  static constexpr int kSoon = 300;  // ms; loopback answers at once or not at all

  // False: one more got no answer.
  bool fill() {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port_.number());
    waiting_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int fd = waiting_.back().get();
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return true;
    if (errno != EINPROGRESS) throw std::runtime_error("connect");
    pollfd entry{fd, POLLOUT, 0};
    return ::poll(&entry, 1, kSoon) > 0;
  }

  LoopbackPort port_;
  std::vector<UniqueFd> waiting_;
};

}  // namespace ddprun::test
