#include "worker_sdk/src/store_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/integration/support/loopback_port.h"

namespace ddp::detail {
namespace {

using Port = ddprun::test::LoopbackPort;
using std::chrono::milliseconds;

void no_long_wait(const std::string& reason) {
  ADD_FAILURE() << "long wait: " << reason;
}

// Answers each connection's question once: with the number of its PING, as a store does, or with
// another text.
class Server {
 public:
  explicit Server(Port& port, std::string text = "") : port_(port), text_(std::move(text)) {
    port_.listen();
    thread_ = std::thread([this] {
      for (int fd; (fd = accept(port_.descriptor(), nullptr, nullptr)) >= 0; close(fd)) answer(fd);
    });
  }
  ~Server() {
    shutdown(port_.descriptor(), SHUT_RDWR);
    thread_.join();
  }

 private:
  void answer(int fd) const {
    std::string question(10, '\0');
    for (std::size_t got = 0; got < question.size();) {
      const ssize_t count = recv(fd, question.data() + got, question.size() - got, 0);
      if (count <= 0) return;
      got += static_cast<std::size_t>(count);
    }
    const std::string text = text_.empty() ? question.substr(6) : text_;
    (void)!send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  }

  Port& port_;
  std::string text_;
  std::thread thread_;
};

TEST(StoreProbe, AStoreIsFoundAtOnce) {
  Port port;
  const Server server(port);
  EXPECT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(5'000), no_long_wait),
            std::nullopt);
  EXPECT_EQ(wait_for_server("localhost", port.number(), milliseconds(5'000), no_long_wait),
            std::nullopt);
}

TEST(StoreProbe, TheLastReasonComesWhenTheTimeIsOver) {
  const Port port;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(200), no_long_wait),
            "Connection refused");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(200));
}

TEST(StoreProbe, AServerThatStartsLaterIsFound) {
  Port port;
  ASSERT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(50), no_long_wait),
            "Connection refused");
  const Server server(port);
  EXPECT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(5'000), no_long_wait),
            std::nullopt);
}

TEST(StoreProbe, WhatAnswersAndIsNoStoreIsTheReasonAtOnce) {
  Port port;
  const Server server(port, "HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(wait_for_server("127.0.0.1", port.number(), std::chrono::hours(1), no_long_wait),
            "another program listens there, which is no store: choose another port");
}

TEST(StoreProbe, AServerThatSaysNothingIsTheReasonWhenTheTimeIsOver) {
  Port port;
  port.listen();  // and nobody accepts
  EXPECT_EQ(wait_for_server("127.0.0.1", port.number(), milliseconds(200), no_long_wait),
            "it accepts connections and does not answer");
}

TEST(StoreProbe, AnUnknownHostIsTheReason) {
  // An empty label: no resolver asks the network for it.
  const auto reason = wait_for_server("no-such-host..invalid", 1, milliseconds(50), no_long_wait);
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason,
              testing::AnyOf(testing::HasSubstr("not known"), testing::HasSubstr("resolution")));
}

}  // namespace
}  // namespace ddp::detail
