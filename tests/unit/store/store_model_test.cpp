// The store against a model that is too simple to be wrong, under random schedules of several
// clients.
#include "tests/unit/store/pure_server.h"
#include "tests/unit/store/random_schedule.h"

namespace ddprun::store {
namespace {

class StoreAlone {
 public:
  StoreAlone() {
    for (ClientId client = 0; client < kClients; ++client) server_.greet(client);
  }
  void send(ClientId client, const std::string& bytes) { server_.send(client, bytes); }
  std::string take(ClientId client) { return server_.take(client); }
  void replace(ClientId client) { server_.store().forget(client); }
  std::uint64_t keys() { return server_.store().keys(); }

 private:
  PureServer server_;
};

TEST(StoreModel, RandomSchedulesGiveTheSameRepliesInTheSameOrder) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    StoreAlone server;
    ASSERT_NO_FATAL_FAILURE(compare_with_model(server, seed, 2'000));
  }
}

}  // namespace
}  // namespace ddprun::store
