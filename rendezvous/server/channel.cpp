#include "rendezvous/server/channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rendezvous/server/would_block.h"

namespace ddprun::server {
namespace {

constexpr std::size_t kReadBytes = 32 << 10;
constexpr std::size_t kPartsPerWrite = 16;
// A fast reader of a large answer must not keep the others waiting.
constexpr std::size_t kBytesPerTurn = 1 << 20;
constexpr const char* kClosed = "it has closed its connection";

std::string how_lost(int error) {
  if (error == ECONNRESET || error == EPIPE) return "its connection was reset";
  return std::string("its connection failed: ") + std::strerror(error);
}

}  // namespace

Bytes counted_bytes(std::string text, const std::shared_ptr<std::uint64_t>& total) {
  const std::uint64_t size = text.size();
  *total += size;
  return {new std::string(std::move(text)), [total, size](const std::string* bytes) {
            *total -= size;
            delete bytes;
          }};
}

Channel::Channel(boost::asio::io_context& io, UniqueFd socket, Owner& owner)
    : stream_(io.get_executor(), socket.release()), owner_(&owner) {}

void Channel::queue(Bytes bytes) {
  if (!stream_.is_open() || finishing_ || failed_) return;
  unsent_ += bytes->size();
  outbox_.push_back(std::move(bytes));
}

void Channel::flush() {
  if (!stream_.is_open() || waits_to_write_ || failed_) return;
  std::size_t sent = 0;
  while (!outbox_.empty()) {
    if (sent >= kBytesPerTurn) return wait_writable();
    const ssize_t size = send_some();
    if (size >= 0) {
      sent += static_cast<std::size_t>(size);
    } else if (would_block(errno)) {
      return wait_writable();
    } else {
      return fail(errno);
    }
  }
  if (finishing_) ::shutdown(stream_.native_handle(), SHUT_WR);
}

// As sendmsg(): how much the socket took, or -1 with errno set.
ssize_t Channel::send_some() {
  std::array<iovec, kPartsPerWrite> parts{};
  std::size_t count = 0;
  std::size_t room = kBytesPerTurn;
  for (; count < parts.size() && count < outbox_.size() && room > 0; ++count) {
    const std::string& text = *outbox_[count];
    const std::size_t skipped = count == 0 ? sent_of_first_ : 0;
    const std::size_t size = std::min(text.size() - skipped, room);
    parts[count] = {const_cast<char*>(text.data()) + skipped, size};
    room -= size;
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  const ssize_t size = ::sendmsg(stream_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (size < 0) return size;
  unsent_ -= static_cast<std::uint64_t>(size);
  sent_of_first_ += static_cast<std::size_t>(size);
  while (!outbox_.empty() && sent_of_first_ >= outbox_.front()->size()) {
    sent_of_first_ -= outbox_.front()->size();
    outbox_.pop_front();
  }
  return size;
}

// The reader need not find the same error, and may not even read any more.
void Channel::fail(int error) {
  failed_ = true;
  outbox_.clear();
  unsent_ = 0;
  boost::asio::post(stream_.get_executor(), [self = shared_from_this(), how = how_lost(error)] {
    if (self->stream_.is_open()) self->gone(how);
  });
}

void Channel::finish() {
  if (!stream_.is_open() || std::exchange(finishing_, true)) return;
  flush();
}

// Closing alone would leave a copy that a program being started holds in epoll.
void Channel::close() {
  owner_ = nullptr;
  outbox_.clear();
  unsent_ = 0;
  if (stream_.is_open()) ::close(stream_.release());
}

void Channel::gone(const std::string& how) {
  Owner* owner = owner_;
  close();
  if (owner != nullptr) owner->on_gone(how);
}

void Channel::wait_readable() {
  stream_.async_wait(Stream::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error && self->stream_.is_open()) self->on_readable();
                     });
}

void Channel::on_readable() {
  std::array<char, kReadBytes> buffer;  // not initialized: it is only written to
  const ssize_t size = ::recv(stream_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size == 0) return on_end_of_input();
  if (size < 0 && !would_block(errno)) return gone(how_lost(errno));
  if (size > 0 && !finishing_ && !failed_) {
    owner_->on_bytes({buffer.data(), static_cast<std::size_t>(size)});
  }
  if (stream_.is_open()) wait_readable();
}

void Channel::on_end_of_input() {
  input_ended_ = true;
  if (finishing_ && !outbox_.empty()) return;  // it may still read
  gone(kClosed);
}

void Channel::wait_writable() {
  waits_to_write_ = true;
  stream_.async_wait(Stream::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (error || !self->stream_.is_open()) return;
                       self->waits_to_write_ = false;
                       self->flush();
                       if (self->input_ended_ && self->outbox_.empty() && !self->failed_)
                         self->gone(kClosed);
                     });
}

}  // namespace ddprun::server
