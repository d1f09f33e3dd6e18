// What a channel does when its socket takes a lot, or nothing any more.
#include "rendezvous/server/channel.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "tests/unit/server/running_server.h"

namespace ddprun::server {
namespace {

struct Ends {
  UniqueFd ours, theirs;
};

// A TCP connection whose kernel buffers take several megabytes at once.
Ends connect_wide() {
  auto listener = std::move(open_listener("127.0.0.1", 0, "").value());
  const int bytes = 8 << 20;
  setsockopt(listener.socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
  UniqueFd theirs(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  setsockopt(theirs.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(listener.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(theirs.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  UniqueFd ours(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  return {std::move(ours), std::move(theirs)};
}

class Listening final : public Channel::Owner {
 public:
  void on_bytes(std::string_view bytes) override { heard += bytes; }
  void on_gone(const std::string& how) override { gone.push_back(how); }

  std::string heard;
  std::vector<std::string> gone;
};

Bytes bytes(std::size_t size) {
  return std::make_shared<const std::string>(size, 'x');
}

TEST(Channel, AFlushSendsAMegabyteAndLeavesTheRestToLaterTurns) {
  boost::asio::io_context io;
  Listening owner;
  Ends ends = connect_wide();
  auto channel = std::make_shared<Channel>(io, std::move(ends.ours), owner);
  for (int i = 0; i < 4; ++i) channel->queue(bytes(1 << 20));
  channel->queue(bytes(100));
  channel->flush();
  EXPECT_GE(channel->unsent(), 3u << 20) << "others have their turn";
  EXPECT_LT(channel->unsent(), 4u << 20);
  std::size_t read = 0;
  std::string buffer(1 << 20, '\0');
  while (read < (4u << 20) + 100) {
    io.poll();
    const ssize_t size = ::recv(ends.theirs.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size > 0) read += static_cast<std::size_t>(size);
    ASSERT_NE(size, 0);
  }
  EXPECT_EQ(channel->unsent(), 0u);
  channel->close();
}

TEST(Channel, WhenSendingFailsTheOwnerHearsIt) {
  boost::asio::io_context io;
  Listening owner;
  Ends ends = connect_wide();
  // The reader finds nothing: only sending fails.
  ASSERT_EQ(::shutdown(ends.ours.get(), SHUT_WR), 0);
  auto channel = std::make_shared<Channel>(io, std::move(ends.ours), owner);
  channel->start();
  channel->queue(bytes(10));
  channel->flush();
  EXPECT_TRUE(owner.gone.empty()) << "never from inside a call";
  channel->queue(bytes(10));
  channel->flush();
  EXPECT_EQ(channel->unsent(), 0u);
  io.poll();
  EXPECT_EQ(owner.gone, std::vector<std::string>{"its connection was reset"});
  EXPECT_EQ(::recv(ends.theirs.get(), owner.heard.data(), 0, MSG_DONTWAIT), 0) << "it is closed";
}

TEST(Channel, ClosedByItsOwnerAfterAFailureItSaysNothing) {
  boost::asio::io_context io;
  Listening owner;
  Ends ends = connect_wide();
  ASSERT_EQ(::shutdown(ends.ours.get(), SHUT_WR), 0);
  auto channel = std::make_shared<Channel>(io, std::move(ends.ours), owner);
  channel->queue(bytes(10));
  channel->flush();
  channel->close();
  io.poll();
  EXPECT_TRUE(owner.gone.empty());
}

}  // namespace
}  // namespace ddprun::server
