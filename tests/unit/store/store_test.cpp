#include "rendezvous/store/store.h"

#include <gtest/gtest.h>

#include "tests/unit/store/pure_server.h"
#include "tests/unit/store/requests.h"

namespace ddprun::store {
namespace {

constexpr ClientId A = 1, B = 2, C = 3;

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    for (const ClientId client : {A, B, C}) server_.greet(client);
  }
  // Sends and returns what comes back to the sender at once.
  std::string ask(ClientId client, const std::string& request) {
    server_.send(client, request);
    return server_.take(client);
  }

  PureServer server_;
};

TEST_F(StoreTest, AnAbsentKeyReadsAsEmpty) {
  EXPECT_EQ(ask(A, get("/none")), text(""));
  ask(A, set("/k", "v"));
  EXPECT_EQ(ask(A, multi_get({"/k", "/none", "/k"})), text("v") + text("") + text("v"));
}

TEST_F(StoreTest, CompareSetInAllItsCases) {
  EXPECT_EQ(ask(A, compare_set("/c", "old", "new")), text("old"));  // absent, not expected so
  EXPECT_EQ(ask(A, check({"/c"})), kIsNotReady);
  EXPECT_EQ(ask(A, compare_set("/c", "", "first")), text("first"));
  EXPECT_EQ(ask(A, compare_set("/c", "", "x")), text("first"));
  EXPECT_EQ(ask(A, compare_set("/c", "first", "")), text(""));
  EXPECT_EQ(ask(A, compare_set("/c", "", "again")), text("again"));  // empty equals empty
  EXPECT_EQ(ask(A, get("/c")), text("again"));
}

TEST_F(StoreTest, CompareSetWakesExactlyWhenItCreates) {
  ask(A, wait({"/c"}));
  EXPECT_EQ(ask(B, compare_set("/c", "old", "new")), text("old"));
  EXPECT_EQ(server_.take(A), "");
  ask(B, compare_set("/c", "", "new"));
  EXPECT_EQ(server_.take(A), kStop);
}

TEST_F(StoreTest, AddTakesNumbersAsCDoes) {
  EXPECT_EQ(ask(A, add("/n", 0)), number(0));  // creates "0"
  EXPECT_EQ(ask(A, get("/n")), text("0"));
  ask(A, set("/n", " \t12abc"));
  EXPECT_EQ(ask(A, add("/n", 1)), number(13));
  ask(A, set("/n", "+5"));
  EXPECT_EQ(ask(A, add("/n", -6)), number(-1));
  EXPECT_EQ(ask(A, get("/n")), text("-1"));
  ask(A, set("/n", "9223372036854775807"));
  EXPECT_EQ(ask(A, add("/n", 1)), number(INT64_MIN));
}

TEST_F(StoreTest, AddToATextClosesTheCallerAndChangesNothing) {
  ask(A, set("/n", "abc"));
  ask(A, set("/big", "9223372036854775808"));
  ask(B, add("/n", 1));
  EXPECT_EQ(server_.why_closed(B), "ADD: the key holds a text that is no 64-bit number");
  ask(C, barrier("/big", 2));
  EXPECT_EQ(server_.why_closed(C), "BARRIER: the key holds a text that is no 64-bit number");
  EXPECT_EQ(ask(A, multi_get({"/n", "/big"})), text("abc") + text("9223372036854775808"));
}

TEST_F(StoreTest, EveryWriteOfAnAbsentKeyWakesItsWaiters) {
  const std::vector<std::string> writes{set("/k", ""), add("/k", 1), append("/k", "t"),
                                        multi_set({{"/other", "1"}, {"/k", "2"}})};
  for (const std::string& write : writes) {
    ask(A, erase("/k"));
    EXPECT_EQ(ask(A, wait({"/k"})), "");
    EXPECT_EQ(ask(B, wait({"/k"})), "");
    server_.send(C, write);
    EXPECT_EQ(server_.take(A), kStop);
    EXPECT_EQ(server_.take(B), kStop);
    server_.send(C, write);
    EXPECT_EQ(server_.take(A), "") << "woken once";
  }
}

TEST_F(StoreTest, WaitCountsAKeyThatCameAndWent) {
  ask(A, wait({"/1", "/2", "/1", "/1"}));  // names given more than once count once
  ask(B, set("/1", "x"));
  ask(B, erase("/1"));
  EXPECT_EQ(server_.take(A), "");
  ask(B, set("/2", "x"));
  EXPECT_EQ(server_.take(A), kStop);
}

TEST_F(StoreTest, CancelIsAlwaysAnsweredOnce) {
  EXPECT_EQ(ask(A, bare(Operation::kCancelWait)), kCanceled);
  ask(A, wait({"/k"}));
  EXPECT_EQ(ask(A, bare(Operation::kCancelWait)), kCanceled);
  ask(B, set("/k", "v"));
  EXPECT_EQ(server_.take(A), "") << "a cancelled wait is not answered";
  ask(A, wait({"/r"}));
  ask(B, set("/r", "v"));
  server_.send(A, bare(Operation::kCancelWait));
  EXPECT_EQ(server_.take(A), kStop + kCanceled) << "the wake-up was on its way already";
}

TEST_F(StoreTest, AWaiterThatGoesAwayIsForgottenAtOnce) {
  ask(A, wait({"/1", "/2", "/3"}));
  ask(B, barrier("/b", 3));
  EXPECT_EQ(server_.store().waiting(), 2u);
  const std::uint64_t keys = server_.store().keys();
  server_.close(A);
  server_.close(B);
  EXPECT_EQ(server_.store().waiting(), 0u);
  EXPECT_EQ(server_.store().keys(), keys) << "what it counted stays";
  EXPECT_EQ(ask(C, barrier("/b", 2)), kStop);
}

TEST_F(StoreTest, ASecondWaitReplacesTheFirst) {
  ask(A, wait({"/1"}));
  ask(A, wait({"/2"}));
  ask(B, set("/1", "x"));
  EXPECT_EQ(server_.take(A), "");
  ask(B, set("/2", "x"));
  EXPECT_EQ(server_.take(A), kStop);
}

TEST_F(StoreTest, AClientCanWakeItself) {
  EXPECT_EQ(ask(A, wait({"/k"}) + add("/k", 4)), number(4) + kStop);
}

TEST_F(StoreTest, AQueueItemWakesOneWaiterInOrder) {
  ask(A, wait({"/q"}));
  ask(B, wait({"/q"}));
  ask(C, push("/q", "1"));
  EXPECT_EQ(server_.take(A), kStop);
  EXPECT_EQ(server_.take(B), "");
  ask(C, push("/q", "2"));
  EXPECT_EQ(server_.take(B), kStop);
  EXPECT_EQ(ask(A, pop("/q")), number(2) + text("1"));
  EXPECT_EQ(ask(A, pop("/q")), number(1) + text("2"));
  EXPECT_EQ(ask(A, pop("/q")), number(0));
}

TEST_F(StoreTest, QueuesAreNamesThatExistButNotKeys) {
  ask(A, push("/q", "item"));
  EXPECT_EQ(ask(A, check({"/q"})), kIsReady);
  EXPECT_EQ(ask(A, wait({"/q"})), kStop);
  EXPECT_EQ(ask(A, get("/q")), text(""));
  EXPECT_EQ(ask(A, bare(Operation::kGetNumKeys)), number(0));
  EXPECT_EQ(ask(A, bare(Operation::kListKeys)), number(0));
  EXPECT_EQ(ask(A, erase("/q")), number(0));
  EXPECT_EQ(ask(A, length("/q")), number(1));
  ask(A, set("/q", "value"));
  EXPECT_EQ(ask(A, pop("/q") + check({"/q"})), number(1) + text("item") + kIsReady);
}

TEST_F(StoreTest, AWokenQueueWaiterIsNotLeftBehind) {
  // PyTorch's server leaves it in the list, and a later push ends another wait of the same client
  // too early.
  ask(A, wait({"/q"}));
  ask(B, push("/q", "1"));
  EXPECT_EQ(server_.take(A), kStop);
  ask(A, pop("/q"));
  ask(A, wait({"/q", "/k"}));
  ask(B, push("/q", "2"));
  EXPECT_EQ(server_.take(A), "");
  ask(B, set("/k", ""));
  EXPECT_EQ(server_.take(A), kStop);
  // It also wants a further push where the queue was not empty when the wait began.
  EXPECT_EQ(ask(A, wait({"/q", "/k"})), kStop);
}

TEST_F(StoreTest, ABarrierReleasesAllWhenItIsFull) {
  EXPECT_EQ(ask(A, barrier("/b", 3)), "");
  EXPECT_EQ(ask(B, barrier("/b", 3)), "");
  EXPECT_EQ(ask(C, check({"/b"}) + get("/b")), kIsReady + text("2")) << "it is an ordinary key";
  ask(C, push("/b", "item"));
  EXPECT_EQ(server_.take(A), "") << "a queue item completes no barrier";
  EXPECT_EQ(ask(C, barrier("/b", 3)), kStop);
  EXPECT_EQ(server_.take(A), kStop);
  EXPECT_EQ(server_.take(B), kStop);
  EXPECT_EQ(ask(A, barrier("/b", 3)), kStop) << "a full barrier stays open";
}

TEST_F(StoreTest, ASetOfItsKeyReleasesABarrier) {
  ask(A, barrier("/b", 3));
  ask(B, set("/b", "0"));
  EXPECT_EQ(server_.take(A), kStop);
}

TEST_F(StoreTest, ListKeysNamesEveryKeyOnce) {
  ask(A, add("init/", 1) + set("/k", "v") + push("/q", "1"));
  ask(B, wait({"/awaited"}));
  const std::string reply = ask(A, bare(Operation::kListKeys));
  EXPECT_TRUE(reply == number(2) + text("init/") + text("/k") ||
              reply == number(2) + text("/k") + text("init/"));
}

TEST_F(StoreTest, AReplyKeepsTheValueItWasGiven) {
  const std::string old_value(5'000, 'o');
  ask(A, set("/v", old_value));
  server_.send(B, get("/v"));  // not taken yet
  ask(A, append("/v", "tail"));
  server_.send(C, get("/v"));
  ask(A, set("/v", std::string(5'000, 'n')));
  EXPECT_EQ(server_.take(B), text(old_value));
  EXPECT_EQ(server_.take(C), text(old_value + "tail"));
}

TEST_F(StoreTest, EmptyAndBinaryKeysAreKeys) {
  const std::string key("\0\xFF", 2);
  ask(A, set("", "empty") + set(key, key));
  EXPECT_EQ(ask(A, multi_get({"", key})), text("empty") + text(key));
  EXPECT_EQ(ask(A, bare(Operation::kGetNumKeys)), number(2));
}

}  // namespace
}  // namespace ddprun::store
