// Which of many sockets are ready: an epoll of our own inside the event loop's. A socket is told to
// the kernel once, where a wait of Asio's tells it again for each request.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::server {

// Borrows the sockets. Not for several threads.
class SocketEvents {
 public:
  // What the owner calls a socket.
  using Key = std::uint64_t;
  struct Event {
    Key key = 0;
    bool readable = false;  // or ended, or broken: reading tells
    bool writable = false;  // only while that is wanted
  };

  static Result<SocketEvents> open();

  // Readable while take() would return events.
  int descriptor() const { return epoll_.get(); }

  // From now on `socket` is reported whenever it is readable. False, with errno set, if it cannot
  // be watched.
  bool add(int socket, Key key);
  // Whether it is reported when it takes bytes as well.
  void want_writable(int socket, Key key, bool wanted);
  // Before it is closed: a program that is being started may hold a copy of the descriptor for a
  // moment, which would keep it here. Events that were taken already may still name it.
  void remove(int socket);

  // What is ready now, some dozens at most. Never waits. Valid until the next call.
  std::span<const Event> take();

 private:
  explicit SocketEvents(UniqueFd epoll) : epoll_(std::move(epoll)) {}

  static constexpr std::size_t kMostAtOnce = 64;  // then others have their turn

  UniqueFd epoll_;
  std::array<Event, kMostAtOnce> events_;
};

}  // namespace ddprun::server
