#include "rendezvous/guard/tls_pump.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace ddprun::guard {
namespace {

constexpr std::size_t kReadBytes = 32 << 10;
// What waits for a side before the other one is not read any more.
constexpr std::size_t kUnsent = 64 << 10;
// For a side that does not end, or take what is left for it, though the other one has.
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::seconds kHandshake{30};

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

TlsPump::TlsPump(boost::asio::io_context& io, UniqueFd secure, UniqueFd plain, TlsStream tls,
                 Hooks hooks)
    : secure_(io, std::move(secure)),
      plain_(io, std::move(plain)),
      tls_(std::move(tls)),
      hooks_(std::move(hooks)),
      timer_(io) {}

void TlsPump::start(std::string first) {
  boost::asio::post(
      secure_.stream.get_executor(), [self = shared_from_this(), first = std::move(first)] {
        if (self->closed_) return;
        self->started_ = true;
        self->watch_handshake();
        const auto taken = self->tls_.receive(first, self->plain_.unsent, self->secure_.unsent);
        if (taken && self->tls_.is_open()) self->tell_open();
        if (!taken) return self->refuse(taken.error());
        self->step();
      });
}

void TlsPump::hurry() {
  if (started_) step();
}

// Closing alone would leave a copy that a program being started holds in epoll.
void TlsPump::close() {
  if (std::exchange(closed_, true)) return;
  timer_.cancel();
  for (Side* side : {&secure_, &plain_})
    if (side->stream.is_open()) ::close(side->stream.release());
  // The hooks may hold what holds this.
  boost::asio::post(secure_.stream.get_executor(), [gone = std::move(hooks_)] {});
  hooks_ = {};
}

void TlsPump::tell_open() {
  timer_.cancel();
  if (hooks_.on_open) hooks_.on_open(tls_.facts());
}

void TlsPump::finish(TlsEnd end) {
  if (closed_) return;
  const auto on_end = std::move(hooks_.on_end);
  close();
  if (on_end) on_end(end);
}

void TlsPump::lost(int error) {
  if (!tls_.is_open() && error == 0)
    return finish({"it closed the connection during the TLS handshake"});
  const bool was_reset = error == 0 || error == ECONNRESET || error == EPIPE;
  finish({was_reset ? "its connection was reset" : std::strerror(error)});
}

// Does what can be done now, and waits for the rest. A turn reads each side once, so that other
// connections have theirs.
void TlsPump::step() {
  if (closed_) return;
  if (may_read(secure_, plain_)) read_secure();
  if (!closed_ && may_read(plain_, secure_)) read_plain();
  if (closed_ || !write_some(plain_) || !write_some(secure_)) return;
  pass_ends();
  if (closed_) return;
  if (!tls_.is_open()) watch_opening_end();
  if (closed_) return;
  if (may_read(secure_, plain_)) wait(secure_, Stream::wait_read, &Side::waits_read);
  if (may_read(plain_, secure_)) wait(plain_, Stream::wait_read, &Side::waits_read);
  if (tls_.is_open() && !may_read(plain_, secure_)) watch_departure();
  for (Side* side : {&secure_, &plain_})
    if (!side->unsent.empty()) wait(*side, Stream::wait_write, &Side::waits_write);
}

// TLS itself may answer what is read, so its own side must not have too much to send either.
bool TlsPump::may_read(const Side& from, const Side& to) const {
  if (from.ended || to.unsent.size() >= kUnsent) return false;
  return &from == &secure_ ? secure_.unsent.size() < kUnsent : tls_.is_open();
}

// Before TLS is open nothing is taken from the plain side. Whoever closes it has given up, and what
// it has said already comes later.
void TlsPump::watch_opening_end() {
  char next;
  const ssize_t size = ::recv(plain_.stream.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  if (size == 0 || (size < 0 && !would_block(errno))) return finish({});
  if (size < 0) wait(plain_, Stream::wait_read, &Side::waits_read);
}

void TlsPump::watch_handshake() {
  timer_.expires_after(kHandshake);
  timer_.async_wait([self = weak_from_this()](boost::system::error_code canceled) {
    const auto pump = self.lock();
    if (!canceled && pump && !pump->tls_.is_open())
      pump->finish({"its TLS handshake was not over within 30 s"});
  });
}

void TlsPump::read_secure() {
  std::string ciphertext;
  if (!read_some(secure_, ciphertext)) return;
  if (secure_.ended && !tls_.has_ended()) return lost(0);  // cut off, perhaps by somebody between
  if (ciphertext.empty()) return;
  const bool was_open = tls_.is_open();
  const auto taken = tls_.receive(ciphertext, plain_.unsent, secure_.unsent);
  if (taken && tls_.is_open() && !was_open) tell_open();
  if (closed_) return;
  if (!taken) return refuse(taken.error());
  secure_.ended = tls_.has_ended();
}

void TlsPump::read_plain() {
  std::string plaintext;
  if (!read_some(plain_, plaintext)) return;
  if (!plaintext.empty()) tls_.send(plaintext, secure_.unsent);
  if (!plain_.ended) return;
  tls_.end(secure_.unsent);
  leave();
}

// False: the connection is lost.
bool TlsPump::read_some(Side& side, std::string& bytes) {
  std::array<char, kReadBytes> buffer;  // not initialized: it is only written to
  const ssize_t size =
      ::recv(side.stream.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && !would_block(errno)) return lost(errno), false;
  if (size == 0) side.ended = true;
  if (size > 0) bytes.assign(buffer.data(), static_cast<std::size_t>(size));
  return true;
}

// False: the connection is lost.
bool TlsPump::write_some(Side& side) {
  const int error = send_some(side);
  if (error == 0) return true;
  if (const auto why = &side == &secure_ ? last_word() : std::nullopt)
    finish({*why, true});
  else
    lost(error);
  return false;
}

// 0, or the errno.
int TlsPump::send_some(Side& side) {
  while (!side.unsent.empty()) {
    const ssize_t size = ::send(side.stream.native_handle(), side.unsent.data(), side.unsent.size(),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) return would_block(errno) ? 0 : errno;
    side.unsent.erase(0, static_cast<std::size_t>(size));
    passed_ += static_cast<std::uint64_t>(size);
  }
  side.unsent.shrink_to_fit();
  return 0;
}

// Whoever has closed the connection may have said why, behind what was not read yet.
std::optional<std::string> TlsPump::last_word() {
  std::string ciphertext, plaintext, answer;
  std::array<char, kReadBytes> buffer;  // not initialized: it is only written to
  ssize_t size = 0;
  do {
    size = ::recv(secure_.stream.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size > 0) ciphertext.append(buffer.data(), static_cast<std::size_t>(size));
  } while (size > 0);
  const auto taken = tls_.receive(ciphertext, plaintext, answer);
  return taken ? std::nullopt : std::optional(taken.error().text);
}

// The other side is told by the alert, if it is still there.
void TlsPump::refuse(const Error& why) {
  send_some(secure_);
  finish({why.text, true});
}

void TlsPump::pass_ends() {
  for (auto [from, to] : {std::pair{&secure_, &plain_}, std::pair{&plain_, &secure_}}) {
    if (!from->ended || to->shut || !to->unsent.empty()) continue;
    to->shut = true;
    ::shutdown(to->stream.native_handle(), SHUT_WR);
  }
  if (secure_.shut && plain_.shut) return finish({});
  if ((secure_.ended || plain_.ended) && !std::exchange(watches_idle_, true)) watch_idle();
}

void TlsPump::watch_idle() {
  timer_.expires_after(kPatience);
  timer_.async_wait(
      [self = weak_from_this(), before = passed_](boost::system::error_code canceled) {
        const auto pump = self.lock();
        if (canceled || !pump || pump->closed_) return;
        if (pump->leaving_ && pump->passed_ == before)
          return pump->finish({"it did not end within 5 s"});
        pump->watch_idle();
      });
}

// Of a side that is not read, because the other one does not take what it has said already.
void TlsPump::watch_departure() {
  if (leaving_ || std::exchange(watches_departure_, true)) return;
  plain_.stream.async_wait(Stream::wait_error,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             if (error || self->closed_) return;
                             self->leave();
                             if (!std::exchange(self->watches_idle_, true)) self->watch_idle();
                           });
}

void TlsPump::leave() {
  if (!std::exchange(leaving_, true) && hooks_.on_leaving) hooks_.on_leaving();
}

void TlsPump::wait(Side& side, Stream::wait_type what, bool Side::*flag) {
  if (std::exchange(side.*flag, true)) return;
  side.stream.async_wait(
      what, [self = shared_from_this(), &side, flag](const boost::system::error_code& error) {
        if (error || self->closed_) return;
        side.*flag = false;
        self->step();
      });
}

Result<PumpedSocket> pump_over(boost::asio::io_context& io, UniqueFd secure, TlsStream tls,
                               TlsPump::Hooks hooks) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Error{std::string("socketpair: ") + std::strerror(errno)};
  UniqueFd near(ends[0]);
  return PumpedSocket{UniqueFd(ends[1]),
                      std::make_shared<TlsPump>(io, std::move(secure), std::move(near),
                                                std::move(tls), std::move(hooks))};
}

}  // namespace ddprun::guard
