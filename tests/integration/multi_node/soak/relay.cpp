#include "tests/integration/multi_node/soak/relay.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/integration/multi_node/soak/ports.h"

namespace ddprun::nodes_soak {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

UniqueFd new_socket() {
  return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

// The other end sees a reset and not an orderly end.
void reset(UniqueFd& socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket.reset();
}

// False when `from` has ended.
bool pass_on(const UniqueFd& from, const UniqueFd& to) {
  char buffer[65536];
  const ssize_t got = ::recv(from.get(), buffer, sizeof buffer, 0);
  if (got <= 0) return false;
  // Messages of a roster are short, and both ends read.
  return ::send(to.get(), buffer, static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
}

}  // namespace

Relay::Relay(std::uint16_t server)
    : server_(server), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  for (int i = 0; !listener_ && i < 100; ++i) {
    port_ = lasting_port(i);
    listen();
  }
  if (!listener_) throw std::runtime_error("the relay finds no port to listen on");
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  set(State::ended);
  thread_.join();
}

void Relay::freeze() {
  set(State::frozen);
}
void Relay::cut() {
  set(State::cut);
}
void Relay::heal() {
  set(State::passing);
}

void Relay::set(State state) {
  std::unique_lock lock(mutex_);
  wanted_ = state;
  const std::uint64_t one = 1;
  if (::write(wake_.get(), &one, sizeof one) != sizeof one) throw std::runtime_error("eventfd");
  taken_.wait(lock, [this] { return state_ == wanted_; });
  if (state == State::passing && !listener_)
    throw std::runtime_error("the port of the relay was taken meanwhile");
}

void Relay::listen() {
  UniqueFd socket = new_socket();
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port_);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(socket.get(), 16) == 0)
    listener_ = std::move(socket);
}

void Relay::accept() {
  Pair pair{UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)), new_socket()};
  const sockaddr_in address = loopback(server_);
  if (::connect(pair.server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0)
    return reset(pair.client);
  pairs_.push_back(std::move(pair));
}

bool Relay::pass(Pair& pair, short client_events, short server_events) {
  return (client_events == 0 || pass_on(pair.client, pair.server)) &&
         (server_events == 0 || pass_on(pair.server, pair.client));
}

void Relay::poll_once() {
  std::vector<pollfd> all{{wake_.get(), POLLIN, 0}};
  const bool passing = state_ == State::passing;
  if (passing) all.push_back({listener_.get(), POLLIN, 0});
  for (const Pair& pair : pairs_) {
    if (!passing) break;
    all.push_back({pair.client.get(), POLLIN, 0});
    all.push_back({pair.server.get(), POLLIN, 0});
  }
  ::poll(all.data(), all.size(), -1);
  std::uint64_t count = 0;
  if (all[0].revents != 0 && ::read(wake_.get(), &count, sizeof count) < 0) return;
  if (!passing) return;
  std::size_t at = 2;
  for (auto pair = pairs_.begin(); pair != pairs_.end(); at += 2)
    pair = pass(*pair, all[at].revents, all[at + 1].revents) ? std::next(pair) : pairs_.erase(pair);
  if (all[1].revents != 0) accept();
}

void Relay::run() {
  for (;;) {
    poll_once();
    const std::lock_guard lock(mutex_);
    if (wanted_ == state_) continue;
    if (wanted_ == State::cut) {
      for (Pair& pair : pairs_) reset(pair.client), reset(pair.server);
      pairs_.clear();
      listener_.reset();
    } else if (state_ == State::cut) {
      listen();
    }
    state_ = wanted_;
    taken_.notify_all();
    if (state_ == State::ended) return;
  }
}

}  // namespace ddprun::nodes_soak
