// A server and a client with a relay between them.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/integration/multi_node/soak/relay.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::nodes_soak {
namespace {

class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    server_.listen();
    client_ = connect();
    accepted_ = UniqueFd(::accept(server_.descriptor(), nullptr, nullptr));
  }
  UniqueFd connect() const {
    UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(relay_.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      client.reset();
    return client;
  }
  static void send(const UniqueFd& to, const std::string& text) {
    EXPECT_EQ(::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // "reset", "end", or the text; "" when nothing comes within `ms`.
  static std::string receive(const UniqueFd& from, int ms = 5000) {
    pollfd ready{from.get(), POLLIN, 0};
    if (::poll(&ready, 1, ms) != 1) return "";
    char buffer[64];
    const ssize_t got = ::recv(from.get(), buffer, sizeof buffer, 0);
    if (got < 0) return errno == ECONNRESET ? "reset" : "error";
    return got == 0 ? "end" : std::string(buffer, static_cast<std::size_t>(got));
  }

  test::LoopbackPort server_;
  Relay relay_{server_.number()};
  UniqueFd client_, accepted_;
};

TEST_F(RelayTest, PassesBothWays) {
  send(client_, "ping");
  EXPECT_EQ(receive(accepted_), "ping");
  send(accepted_, "pong");
  EXPECT_EQ(receive(client_), "pong");
}

TEST_F(RelayTest, AnEndIsPassedOn) {
  accepted_.reset();
  EXPECT_EQ(receive(client_), "end");
}

TEST_F(RelayTest, WhatIsSentIntoTheFrostComesLater) {
  relay_.freeze();
  send(client_, "ping");
  EXPECT_EQ(receive(accepted_, 50), "");
  relay_.heal();
  EXPECT_EQ(receive(accepted_), "ping");
}

TEST_F(RelayTest, ACutResetsBothAndRefusesUntilItIsHealed) {
  relay_.cut();
  EXPECT_EQ(receive(client_), "reset");
  EXPECT_EQ(receive(accepted_), "reset");
  EXPECT_FALSE(connect());
  relay_.heal();
  const UniqueFd again = connect();
  const UniqueFd there(::accept(server_.descriptor(), nullptr, nullptr));
  send(again, "ping");
  EXPECT_EQ(receive(there), "ping");
}

}  // namespace
}  // namespace ddprun::nodes_soak
