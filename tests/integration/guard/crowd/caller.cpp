#include "tests/integration/guard/crowd/caller.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace ddprun::crowd {
namespace {

constexpr int kPatienceMs = 10'000;

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

}  // namespace

Caller::Caller(const std::string& from, std::uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  const sockaddr_in own = address_of(from, 0), to = address_of("127.0.0.1", port);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0 ||
      ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    socket_.reset();
}

void Caller::take_little() const {
  const int bytes = 4'096;
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

bool Caller::send_raw(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string Caller::receive_raw() const {
  pollfd entry{socket_.get(), POLLIN, 0};
  std::string bytes(64 << 10, '\0');
  const ssize_t got =
      ::poll(&entry, 1, kPatienceMs) > 0 ? ::recv(socket_.get(), bytes.data(), bytes.size(), 0) : 0;
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

bool Caller::shake_hands(const std::shared_ptr<const guard::Tls>& tls) {
  session_ = std::make_unique<guard::TlsStream>(tls);
  std::string arrived, in;
  do {
    std::string out;
    const auto went = session_->receive(arrived, in, out);
    if (!send_raw(out) || !went) return false;
    if (session_->is_open()) return true;
    arrived = receive_raw();
  } while (!arrived.empty());
  return false;
}

bool Caller::send(std::string_view bytes) {
  if (!session_) return send_raw(bytes);
  std::string out;
  session_->send(bytes, out);
  return send_raw(out);
}

std::string Caller::receive() {
  if (!session_) return receive_raw();
  std::string in, out;
  while (in.empty()) {
    const std::string arrived = receive_raw();
    if (arrived.empty() || !session_->receive(arrived, in, out) || session_->has_ended()) break;
  }
  return in;
}

}  // namespace ddprun::crowd
