#include "rendezvous/server/socket_events.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace ddprun::server {
namespace {

epoll_event event_of(SocketEvents::Key key, std::uint32_t wanted) {
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = key;
  return event;
}

}  // namespace

Result<SocketEvents> SocketEvents::open() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return Error{"epoll_create1: " + std::string(std::strerror(errno))};
  return SocketEvents(std::move(epoll));
}

bool SocketEvents::add(int socket, Key key) {
  epoll_event event = event_of(key, EPOLLIN);
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) == 0;
}

void SocketEvents::want_writable(int socket, Key key, bool wanted) {
  epoll_event event = event_of(key, wanted ? EPOLLIN | EPOLLOUT : EPOLLIN);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket, &event);
}

void SocketEvents::remove(int socket) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

std::span<const SocketEvents::Event> SocketEvents::take() {
  std::array<epoll_event, kMostAtOnce> found;
  const int count = ::epoll_wait(epoll_.get(), found.data(), static_cast<int>(found.size()), 0);
  const auto taken = static_cast<std::size_t>(std::max(count, 0));
  for (std::size_t i = 0; i < taken; ++i) {
    events_[i] = {.key = found[i].data.u64,
                  .readable = (found[i].events & ~std::uint32_t{EPOLLOUT}) != 0,
                  .writable = (found[i].events & EPOLLOUT) != 0};
  }
  return {events_.data(), taken};
}

}  // namespace ddprun::server
