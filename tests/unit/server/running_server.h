// A server on its own thread, on a port of the system's choice, and a socket client that speaks raw
// bytes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/protocol/encode.h"
#include "rendezvous/server/server.h"
#include "tests/unit/store/requests.h"

namespace ddprun::server {

constexpr int kPatienceMs = 10'000;  // longest wait for anything that must happen

class RunningServer {
 public:
  explicit RunningServer(ServerOptions options = {}) {
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
    server_ = std::move(Server::listen(io_, std::move(options)).value());
    port_ = server_->port();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~RunningServer() { close(); }

  std::uint16_t port() const { return port_; }

  // Closes the server on its thread; returns when its io_context has nothing left to do.
  void close() {
    if (!thread_.joinable()) return;
    boost::asio::post(io_, [this] { server_.reset(); });
    thread_.join();
  }

  ServerStatistics statistics() {
    std::promise<ServerStatistics> answer;
    boost::asio::post(io_, [&] { answer.set_value(server_->statistics()); });
    return answer.get_future().get();
  }

  // Returns once `reached` is true of the statistics; fails the test if that takes too long.
  void await(const std::function<bool(const ServerStatistics&)>& reached) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (!reached(statistics())) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the server did not get there";
      std::this_thread::yield();
    }
  }

  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  boost::asio::io_context io_{1};
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::thread thread_;
};

class RawClient {
 public:
  RawClient() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit RawClient(std::uint16_t port, bool greets = true) : RawClient() {
    connect(port);
    if (greets) greet();
  }

  // Before connect(): the kernel takes little for it, so what it does not read stays at the server.
  void take_little() {
    const int bytes = 4'096;
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }
  void connect(std::uint16_t port, const char* address = "127.0.0.1") {
    ASSERT_EQ(try_connect(port, address), 0) << std::strerror(errno);
    const int on = 1;
    setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  // From another address of this host, each of which has ports of its own.
  void connect_from(const std::string& source, std::uint16_t port) {
    const int on = 1;
    setsockopt(socket_.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    sockaddr_in from{};
    from.sin_family = AF_INET;
    inet_pton(AF_INET, source.c_str(), &from.sin_addr);
    ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&from), sizeof from), 0);
    connect(port);
  }
  int try_connect(std::uint16_t port, const char* address) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, address, &to.sin_addr);
    return ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to);
  }
  void greet() {
    std::string hello;
    protocol::encode_validate(hello);
    send(hello);
  }

  // Sends all of it; a server that has closed the connection meanwhile is no error.
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // Exactly `size` bytes, or what came before the end of the connection or of our patience.
  std::string receive(std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t have = 0;
    while (have < size && readable()) {
      const ssize_t got = ::recv(socket_.get(), bytes.data() + have, size - have, 0);
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
  }
  // What comes next, at least a byte; nothing at the end of the connection or of our patience.
  std::string receive_some() {
    std::string bytes(64 << 10, '\0');
    const ssize_t got = readable() ? ::recv(socket_.get(), bytes.data(), bytes.size(), 0) : 0;
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  // What has come already.
  std::string receive_now() {
    std::string bytes(64 << 10, '\0');
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  // Everything until the connection ends.
  std::string receive_all() {
    std::string all;
    for (std::string some = receive_some(); !some.empty(); some = receive_some()) all += some;
    return all;
  }
  std::string ask(const std::string& request, std::size_t size) {
    send(request);
    return receive(size);
  }

  // Everything sent before has been applied, and exactly nothing has come that was not received.
  void sync() {
    std::string ping;
    protocol::encode_ping(ping, 0x99887766);
    EXPECT_EQ(ask(ping, 4), "\x66\x77\x88\x99");
  }

  // The server ends the connection, and sends nothing before.
  bool is_closed() {
    char byte;
    return readable() && ::recv(socket_.get(), &byte, 1, 0) <= 0;
  }
  void close() { socket_.reset(); }

 private:
  bool readable() const {
    pollfd entry{socket_.get(), POLLIN, 0};
    return ::poll(&entry, 1, kPatienceMs) > 0;
  }

  UniqueFd socket_;
};

}  // namespace ddprun::server
