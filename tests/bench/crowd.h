// Many TCP clients of one server in one process and one thread: what a large job looks like from
// its server. Level of care of a benchmark: whatever goes wrong is an exception.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::bench {

struct CrowdOptions {
  std::uint16_t port = 0;            // of 127.0.0.1
  std::string source = "127.0.0.1";  // the clients' own address, of the loopback interface
  std::size_t clients = 0;
  // After so many, the next address is taken: beyond half of the ephemeral ports of one address the
  // kernel searches all of that half for each client.
  std::size_t clients_of_source = 10'000;
  // So many may be connecting, or not have heard from the server, at the same time. Below the
  // accept queue (net.core.somaxconn), or the kernel drops some and tries again after a second.
  std::size_t at_once = 2'000;
  std::chrono::milliseconds patience{60'000};  // for all that run() or go_on() does
};

class Crowd {
 public:
  // What a client says as soon as it is connected; called once for each.
  using OnConnected = std::function<std::string(std::size_t client)>;
  // Bytes that a client has received. May call send() and finish().
  using OnBytes = std::function<void(std::size_t client, std::string_view bytes)>;

  // Raises the soft limit of open files to the hard one. Nothing is connected yet. Throws
  // std::runtime_error when that limit is too small.
  explicit Crowd(CrowdOptions options);

  // Connects all clients and returns when finish() was called once for each. The connections stay
  // open until the crowd goes. Throws std::runtime_error when one ends or the patience is over.
  void run(const OnConnected& on_connected, const OnBytes& on_bytes);
  // Goes on with the connections that are there until finish() was called once more for each.
  void go_on(const OnBytes& on_bytes);

  // Small messages only: what the kernel does not take at once is an exception.
  void send(std::size_t client, std::string_view bytes);
  // This client has all it wanted.
  void finish(std::size_t client);

 private:
  struct Client {
    UniqueFd fd;
    bool connected = false, heard = false, finished = false;
  };

  void until_finished(const OnConnected& on_connected, const OnBytes& on_bytes);
  void connect_more();
  void connect_one(std::size_t client);
  void handle(std::size_t client, const OnConnected& on_connected, const OnBytes& on_bytes);
  void receive(std::size_t client, const OnBytes& on_bytes);

  CrowdOptions options_;
  UniqueFd epoll_;
  std::vector<Client> clients_;
  std::vector<char> buffer_;
  std::size_t begun_ = 0, heard_ = 0, finished_ = 0;
};

}  // namespace ddprun::bench
