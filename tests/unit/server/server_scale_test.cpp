// Many clients, and too many for the descriptors there are.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <deque>

#include "tests/unit/server/running_server.h"

namespace ddprun::server {
namespace {

using namespace store;

// Sets the soft limit of open files for a while.
class FileLimit {
 public:
  explicit FileLimit(rlim_t limit) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit now{std::min(limit, before_.rlim_max), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~FileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

rlim_t next_free_descriptor() {
  const UniqueFd probe(::dup(0));
  return static_cast<rlim_t>(probe.get());
}

TEST(ServerScale, AThousandClientsMeetAtOneKey) {
  constexpr std::size_t kClients = 1'000;
  const FileLimit limit(4'096);
  RunningServer server;
  std::deque<RawClient> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.emplace_back(server.port());
    clients.back().send(add("init/", 1) + wait({"/go"}));
  }
  for (std::size_t i = 0; i < kClients; ++i) EXPECT_EQ(clients[i].receive(8).size(), 8u);
  EXPECT_EQ(clients[0].ask(add("init/", 0), 8), number(kClients));
  server.await([](const ServerStatistics& now) { return now.waiting == kClients; });
  RawClient(server.port()).send(set("/go", "1"));
  for (RawClient& client : clients) EXPECT_EQ(client.receive(1), kStop);
}

TEST(ServerScale, AnIdleConnectionCostsLessThanTwoKilobytes) {
  constexpr std::size_t kClients = 1'000;
  const FileLimit limit(4'096);
  RunningServer server;
  std::deque<RawClient> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.emplace_back();
  { RawClient(server.port()).sync(); }  // what the first client brings about is not counted
  const std::size_t before = mallinfo2().uordblks;
  const std::string request = set("/k", std::string(5'000, 'x')) + get("/k");
  for (RawClient& client : clients) {
    client.connect(server.port());
    client.greet();
    EXPECT_EQ(client.ask(request, 5'008).size(), 5'008u);
  }
  const std::size_t each = (mallinfo2().uordblks - before) / kClients;
  EXPECT_LT(each, 2'048u);
  RecordProperty("bytes_each", static_cast<int>(each));
}

TEST(ServerScale, OutOfDescriptorsAcceptingPausesAndGoesOn) {
  RunningServer server;
  std::deque<RawClient> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back();
  {
    const FileLimit limit(next_free_descriptor() + 10);
    for (RawClient& client : clients) {
      client.connect(server.port());  // the kernel completes it; nobody accepts it
      client.greet();
    }
    server.await([](const ServerStatistics& now) { return now.accept_pauses >= 2; });
    EXPECT_EQ(server.statistics().accepted, 10u);
    for (std::size_t i = 0; i < 10; ++i) clients[i].sync();
  }
  for (RawClient& client : clients) client.sync();
  const std::vector<std::string> lines = server.lines();
  ASSERT_EQ(lines.size(), 1u) << "said once";
  EXPECT_NE(lines[0].find("accepting pauses with 10 connections: the limit of "),
            std::string::npos);
  EXPECT_NE(lines[0].find("open files (ulimit -n) is reached"), std::string::npos);
}

}  // namespace
}  // namespace ddprun::server
