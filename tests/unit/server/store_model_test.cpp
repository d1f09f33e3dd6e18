// The whole server, over real connections, against the model of the store.
#include <array>

#include "tests/unit/server/running_server.h"
#include "tests/unit/store/random_schedule.h"

namespace ddprun::server {
namespace {

using store::ClientId;

class OverConnections {
 public:
  OverConnections() {
    for (auto& client : clients_) client = std::make_unique<RawClient>(server_.port());
  }

  // The answer to a PING behind it says that the request has been applied.
  void send(ClientId client, const std::string& bytes) {
    clients_[client]->send(bytes);
    got_[client] += until_pong(client);
  }
  // All that was due was sent before the answer to this PING.
  std::string take(ClientId client) {
    got_[client] += until_pong(client);
    return std::exchange(got_[client], "");
  }
  void replace(ClientId client) {
    clients_[client]->close();
    // The others need not wait for it, but the model must not be ahead of the server.
    server_.await([](const ServerStatistics& now) { return now.connections < store::kClients; });
    clients_[client] = std::make_unique<RawClient>(server_.port());
    server_.await([](const ServerStatistics& now) { return now.connections == store::kClients; });
    got_[client].clear();
  }
  std::uint64_t keys() { return server_.statistics().keys; }

 private:
  // Beginning with a byte that no number or text of these tests has.
  static constexpr std::uint32_t kNonce = 0xFFFEFDFC;

  std::string until_pong(ClientId client) {
    std::string ping, pong, bytes;
    protocol::encode_ping(ping, kNonce);
    protocol::store(pong, kNonce);
    clients_[client]->send(ping);
    while (!bytes.ends_with(pong)) {
      const std::string some = clients_[client]->receive_some();
      if (some.empty()) return "the connection has ended";
      bytes += some;
    }
    bytes.resize(bytes.size() - pong.size());
    return bytes;
  }

  RunningServer server_;
  std::array<std::unique_ptr<RawClient>, store::kClients> clients_;
  std::array<std::string, store::kClients> got_;
};

TEST(ServerModel, RandomSchedulesGiveTheSameRepliesOverConnections) {
  for (unsigned seed = 100; seed < 104; ++seed) {
    OverConnections server;
    ASSERT_NO_FATAL_FAILURE(store::compare_with_model(server, seed, 1'000));
  }
}

}  // namespace
}  // namespace ddprun::server
