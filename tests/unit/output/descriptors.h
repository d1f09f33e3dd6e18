// Real pipes and terminals for the tests of the output room, and a bounded way to run an
// io_context.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "launcher/output/channel.h"

namespace ddprun::output {

// Where our own stdout or stderr goes in a test. `reader` does not block.
inline Channel pipe_to_us() {
  return std::move(make_channel(ChannelKind::pipe, -1).value());
}
inline Channel terminal_to_us() {
  return std::move(make_channel(ChannelKind::pty, -1).value());
}

// What `fd`, which does not block, has to give at present.
inline std::string read_available(int fd) {
  std::string text;
  char buffer[65536];
  ssize_t n = 0;
  while ((n = ::read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

// What a terminal or pipe gives, once its first bytes are there (a pty hands bytes over in its own
// time).
inline std::string wait_and_read(int fd, std::size_t bytes) {
  std::string text;
  pollfd ready{fd, POLLIN, 0};
  while (text.size() < bytes && ::poll(&ready, 1, 10'000) == 1) text += read_available(fd);
  return text;
}

inline void write_all(int fd, std::string_view text) {
  ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

// Runs handlers until `done` says so; fails the test after ten seconds.
inline void run_until(boost::asio::io_context& io, const std::function<bool()>& done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!done()) {
    io.restart();
    io.run_one_for(std::chrono::milliseconds(100));
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "gave up waiting";
  }
}

// Runs the handlers that are ready.
inline void poll_now(boost::asio::io_context& io) {
  io.restart();
  io.poll();
}

inline bool is_non_blocking(int fd) {
  return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

}  // namespace ddprun::output
