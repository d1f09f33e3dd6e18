#include "launcher/relay/inlet.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace ddprun::relay {
namespace {

constexpr std::size_t kReadSize = std::size_t{64} << 10;

}  // namespace

void Inlet::open(UniqueFd fd, Hooks hooks) {
  hooks_ = std::move(hooks);
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  descriptor_.assign(fd.release());
  wait();
}

void Inlet::wait() {
  if (hooks_.full && hooks_.full([this] {
        if (is_open()) wait();
      }))
    return;
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](boost::system::error_code problem) {
                           if (problem == boost::asio::error::operation_aborted || !is_open())
                             return;
                           // Nothing can be waited for at /dev/null.
                           if (!problem && read_once()) return wait();
                           finish();
                         });
}

bool Inlet::read_once() {
  static std::array<char, kReadSize> buffer;  // one thread
  const ssize_t got = ::read(descriptor_.native_handle(), buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  hooks_.bytes({buffer.data(), static_cast<std::size_t>(got)});
  return is_open();
}

void Inlet::drain_now() {
  if (!is_open()) return;
  static std::array<char, kReadSize> buffer;
  ssize_t got = 0;
  while ((got = ::read(descriptor_.native_handle(), buffer.data(), buffer.size())) > 0)
    hooks_.bytes({buffer.data(), static_cast<std::size_t>(got)});
  finish();
}

void Inlet::finish() {
  if (!is_open()) return;
  descriptor_.close();
  if (hooks_.end) hooks_.end();
}

}  // namespace ddprun::relay
