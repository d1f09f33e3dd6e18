// The store as its clients use it: without sockets, and behind them.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/server/server.h"
#include "tests/counts/counted.h"
#include "tests/unit/store/pure_server.h"
#include "tests/unit/store/requests.h"

namespace ddprun::counts {
namespace {

constexpr std::size_t kClients = 64;
const std::string kValue(64, 'v');

// What one client says in one turn, in one piece; the last client's SET wakes the others' WAIT.
std::string requests_of(std::size_t client, std::size_t turn) {
  const std::string key = "/client/" + std::to_string(client);
  const std::string go = "/go/" + std::to_string(turn);
  return store::set(key, kValue) + store::get(key) + store::add("/here", 1) +
         (client + 1 < kClients ? store::wait({go}) : store::set(go, "1"));
}
constexpr std::size_t kRequests = 4;

// The number of bytes that it gets for them.
std::size_t reply_bytes(std::size_t client) {
  return 8 + kValue.size() + 8 + (client + 1 < kClients ? 1 : 0);
}

std::vector<std::string> requests_of_turn(std::size_t turn) {
  std::vector<std::string> requests;
  for (std::size_t client = 0; client < kClients; ++client)
    requests.push_back(requests_of(client, turn));
  return requests;
}

UniqueFd connect_to(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  must(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
       "a client cannot connect");
  return fd;
}

void send_all(const UniqueFd& fd, const std::string& bytes) {
  must(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size()),
       "a request cannot be sent");
}

void expect_reply(const UniqueFd& fd, std::size_t size) {
  std::string bytes(size, '\0');
  must(::recv(fd.get(), bytes.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size) &&
           bytes.substr(8, kValue.size()) == kValue,
       "a reply is missing");
}

// `request_of` gives what a client says in a turn, and `replies` is what each gets for it.
void run_pure(std::size_t turns, std::size_t replies,
              const std::function<std::string(std::size_t client, std::size_t turn)>& request_of) {
  store::PureServer server;
  server.greet(0);
  server.send(0, store::set("/k", kValue));
  for (std::size_t client = 1; client < kClients; ++client) server.greet(client);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    std::vector<std::string> requests;
    for (std::size_t client = 0; client < kClients; ++client)
      requests.push_back(request_of(client, turn));
    counted([&] {
      for (std::size_t client = 0; client < kClients; ++client)
        server.send(client, requests[client]);
    });
    for (std::size_t client = 0; client < kClients; ++client)
      must(server.take(client).size() == replies, "a reply is missing");
  }
  must(server.store().keys() > 0, "the store is empty");
}

}  // namespace

void run_store_set(std::size_t turns) {
  run_pure(turns, 0, [](std::size_t client, std::size_t) {
    return store::set("/client/" + std::to_string(client), kValue);
  });
}

void run_store_get(std::size_t turns) {
  run_pure(turns, 8 + kValue.size(), [](std::size_t, std::size_t) { return store::get("/k"); });
}

void run_store_add(std::size_t turns) {
  run_pure(turns, 8, [](std::size_t, std::size_t) { return store::add("/here", 1); });
}

void run_store_wait(std::size_t turns) {
  run_pure(turns, 1, [](std::size_t client, std::size_t turn) {
    const std::string go = "/go/" + std::to_string(turn);
    return client + 1 < kClients ? store::wait({go}) : store::set(go, "1") + store::wait({go});
  });
}

void run_store_server(std::size_t turns) {
  boost::asio::io_context io;
  const auto server = std::move(server::Server::listen(io, {}).value());
  const auto work_until = [&](const std::function<bool(const server::ServerStatistics&)>& done) {
    while (!done(server->statistics())) io.run_one();
  };
  std::vector<UniqueFd> clients;
  for (std::size_t client = 0; client < kClients; ++client) {
    clients.push_back(connect_to(server->port()));
    std::string hello;
    protocol::encode_validate(hello);
    send_all(clients.back(), hello);
  }
  work_until([](const auto& now) { return now.requests == kClients; });
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const std::vector<std::string> requests = requests_of_turn(turn);
    for (std::size_t client = 0; client < kClients; ++client)
      send_all(clients[client], requests[client]);
    const std::uint64_t all = kClients + (turn + 1) * kClients * kRequests;
    counted([&] { work_until([&](const auto& now) { return now.requests == all; }); });
    for (std::size_t client = 0; client < kClients; ++client)
      expect_reply(clients[client], reply_bytes(client));
  }
}

}  // namespace ddprun::counts
