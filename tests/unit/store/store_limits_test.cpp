// What the store counts, and that it stops at its limits.
#include <gtest/gtest.h>

#include "tests/unit/store/pure_server.h"
#include "tests/unit/store/requests.h"

namespace ddprun::store {
namespace {

constexpr ClientId A = 1, B = 2;

TEST(StoreLimits, MemoryComesBackToZero) {
  PureServer server;
  server.greet(A);
  server.greet(B);
  server.send(A, set("/k", std::string(10'000, 'x')) + append("/k", "tail") + set("/k", "short"));
  server.send(A, multi_set({{"/1", "x"}, {"/2", "y"}}) + push("/q", "item") + push("/q", "item"));
  server.send(A, wait({"/a", "/b", "/a", "/q2"}));
  server.send(B, barrier("/bar", 2) + bare(Operation::kCancelWait) + wait({"/a"}));
  server.send(B, push("/q2", "1"));
  EXPECT_GT(server.store().memory_bytes(), 1'000u);
  server.close(A);
  for (const std::string key : {"/k", "/1", "/2", "/bar"}) server.send(B, erase(key));
  for (const std::string name : {"/q", "/q", "/q2"}) server.send(B, pop(name));
  server.send(B, bare(Operation::kCancelWait));
  EXPECT_EQ(server.store().memory_bytes(), 0u);
  EXPECT_EQ(server.store().keys(), 0u);
}

TEST(StoreLimits, OverTheMemoryLimitOnlyTheCallerIsClosed) {
  const std::string big(6'000, 'x');
  const std::vector<std::string> requests{set("/new", big),
                                          append("/k", big),
                                          compare_set("/new", "", big),
                                          push("/q", big),
                                          multi_set({{"/1", big}, {"/2", "x"}}),
                                          wait(Keys(60, "/absent"))};
  PureServer server({10'000, 100});
  server.greet(A);
  server.send(A, set("/k", std::string(5'000, 'x')));
  ClientId client = B;
  for (const std::string& request : requests) {
    server.greet(++client);
    server.send(client, request);
    EXPECT_NE(server.why_closed(client).find("over the limit of 10000 (max_memory_bytes)"),
              std::string::npos);
  }
  EXPECT_EQ(server.store().keys(), 1u) << "nothing of a refused request was applied";
  server.send(A, erase("/k"));
  server.send(A, set("/new", big));
  EXPECT_FALSE(server.is_closed(A));
}

TEST(StoreLimits, OverTheKeyLimitExistingKeysCanStillBeWritten) {
  PureServer server({1 << 20, 2});
  server.greet(A);
  server.greet(B);
  server.send(A, set("/1", "x") + add("/2", 1));
  server.send(A, set("/1", "y") + add("/2", 1) + append("/1", "z"));
  EXPECT_FALSE(server.is_closed(A));
  server.send(B, set("/3", "x"));
  EXPECT_EQ(server.why_closed(B),
            "SET: the store would hold 3 keys, over the limit of 2 (max_keys)");
}

TEST(StoreLimits, WakingOneOfManyWaitersIsCheap) {
  // 20,000 clients wait for a key each and one common key: a search through them all would take
  // minutes.
  constexpr ClientId kClients = 20'000;
  PureServer server;
  server.greet(0);
  for (ClientId client = 1; client <= kClients; ++client) {
    server.greet(client);
    server.send(client, wait({"/common", "/own/" + std::to_string(client)}));
  }
  EXPECT_EQ(server.store().waiting(), kClients);
  server.send(0, set("/common", ""));
  for (ClientId client = kClients; client > 0; --client) {
    server.send(0, set("/own/" + std::to_string(client), ""));
    ASSERT_EQ(server.take(client), kStop);
  }
  EXPECT_EQ(server.store().waiting(), 0u);
}

}  // namespace
}  // namespace ddprun::store
