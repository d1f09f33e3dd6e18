// The client against our server, and against programs that are no store.
#include "rendezvous/client/store_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "rendezvous/server/listener.h"
#include "tests/unit/server/running_server.h"

namespace ddprun::client {
namespace {

using namespace std::chrono_literals;
using server::RunningServer;
using Keys = std::vector<std::string>;

constexpr milliseconds kPatience{server::kPatienceMs};
constexpr milliseconds kShort{20};

class StoreClientTest : public testing::Test {
 protected:
  StoreClient connect() {
    ClientOptions options;
    options.port = server_.port();
    options.connect_timeout = kPatience;
    return std::move(StoreClient::connect(options).value());
  }

  RunningServer server_;
};

TEST_F(StoreClientTest, KeysAndNumbers) {
  StoreClient client = connect();
  ASSERT_TRUE(client.set("k", "value"));
  ASSERT_TRUE(client.append("k", std::string("\0tail", 5)));
  EXPECT_EQ(client.get("k", kPatience).value(), std::string("value\0tail", 10));
  EXPECT_EQ(client.add("n", 5).value(), 5);
  EXPECT_EQ(client.add("n", -7).value(), -2);
  EXPECT_EQ(client.compare_set("c", "x", "y").value(), "x");
  EXPECT_EQ(client.compare_set("c", "", "y").value(), "y");
  EXPECT_TRUE(client.check(Keys{"k", "n", "c"}).value());
  EXPECT_FALSE(client.check(Keys{"k", "nope"}).value());
  EXPECT_EQ(client.num_keys().value(), 3);
  EXPECT_TRUE(client.delete_key("c").value());
  EXPECT_FALSE(client.delete_key("c").value());
}

TEST_F(StoreClientTest, ManyKeysAtOnce) {
  StoreClient client = connect();
  std::vector<protocol::KeyValue> items;
  Keys names;
  std::vector<std::string> values;
  for (int i = 0; i < 3'000; ++i) {
    names.push_back("key" + std::to_string(i));
    values.push_back(std::string(static_cast<std::size_t>(i), 'v'));
    items.emplace_back(names.back(), values.back());
  }
  ASSERT_TRUE(client.multi_set(items));
  EXPECT_EQ(client.multi_get(names, kPatience).value(), values);
  names.push_back("absent");
  EXPECT_EQ(client.multi_get(names, kShort).value(), std::nullopt);
}

TEST_F(StoreClientTest, ListKeysShowsThisPrefixOnly) {
  StoreClient client = connect();
  ClientOptions options;
  options.port = server_.port();
  options.key_prefix = "private:";
  StoreClient other = std::move(StoreClient::connect(options).value());
  ASSERT_TRUE(client.set("a", "") && client.set("b", "") && client.num_keys());
  ASSERT_TRUE(other.set("c", ""));
  EXPECT_EQ(other.list_keys().value(), Keys{"c"});
  Keys keys = client.list_keys().value();
  std::ranges::sort(keys);
  EXPECT_EQ(keys, (Keys{"a", "b"}));
  EXPECT_EQ(client.num_keys().value(), 3);
}

TEST_F(StoreClientTest, AWaitEndsWhenTheKeysCome) {
  StoreClient waiter = connect();
  StoreClient setter = connect();
  std::thread thread([&] {
    server_.await([](const auto& now) { return now.waiting == 1; });
    EXPECT_TRUE(setter.set("late", "x"));
  });
  EXPECT_TRUE(waiter.wait(Keys{"late"}, kPatience).value());
  EXPECT_EQ(waiter.get("late", 0ms).value(), "x");
  thread.join();
}

TEST_F(StoreClientTest, ATimeoutLeavesTheConnectionUsable) {
  StoreClient client = connect();
  EXPECT_FALSE(client.wait(Keys{"never"}, kShort).value());
  EXPECT_EQ(client.get("never", 0ms).value(), std::nullopt);
  EXPECT_FALSE(client.barrier("b", 2, kShort).value());
  EXPECT_EQ(client.get("b", kPatience).value(), "1") << "who came is counted";
  EXPECT_EQ(client.queue_pop("q", kShort).value(), std::nullopt);
  EXPECT_EQ(server_.statistics().waiting, 0u);
}

TEST_F(StoreClientTest, TimeoutsThatCrossTheWakeUpNeverShiftReplies) {
  StoreClient waiter = connect();
  StoreClient setter = connect();
  std::atomic<int> round{0};
  constexpr int kRounds = 500;
  std::thread thread([&] {
    for (int i = 1; i <= kRounds; ++i) {
      while (round < i) std::this_thread::yield();
      EXPECT_TRUE(setter.set("key" + std::to_string(i), "x"));
    }
  });
  int in_time = 0;
  for (int i = 1; i <= kRounds; ++i) {
    round = i;  // the set and the end of the timeout come at about the same time
    in_time += waiter.wait(Keys{"key" + std::to_string(i)}, milliseconds(i % 2)).value() ? 1 : 0;
    EXPECT_EQ(waiter.add("counter", 1).value(), i);
  }
  thread.join();
  RecordProperty("in_time", in_time);
}

TEST_F(StoreClientTest, QueuesKeepOrderAndWakeOneClient) {
  StoreClient consumer = connect();
  StoreClient producer = connect();
  ASSERT_TRUE(producer.queue_push("q", "1"));
  ASSERT_TRUE(producer.queue_push("q", ""));
  EXPECT_EQ(producer.queue_length("q").value(), 2);
  EXPECT_EQ(consumer.queue_pop("q", 0ms).value(), "1");
  EXPECT_EQ(consumer.queue_pop("q", 0ms).value(), "");
  std::thread thread([&] {
    server_.await([](const auto& now) { return now.waiting == 1; });
    EXPECT_TRUE(producer.queue_push("q", "late"));
  });
  EXPECT_EQ(consumer.queue_pop("q", kPatience).value(), "late");
  thread.join();
}

TEST_F(StoreClientTest, ABarrierHoldsEverybody) {
  std::atomic<int> arrived{0};
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 8; ++rank) {
    ranks.emplace_back([&] {
      StoreClient client = connect();
      for (int i = 0; i < 50; ++i) {
        ++arrived;
        EXPECT_TRUE(client.barrier("step" + std::to_string(i), 8, kPatience).value());
        EXPECT_GE(arrived, 8 * (i + 1));
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST_F(StoreClientTest, ALostServerFailsThisCallAndAllLaterOnes) {
  StoreClient client = connect();
  server_.close();
  EXPECT_FALSE(client.get("k", kPatience));
  const auto again = client.add("n", 1);
  ASSERT_FALSE(again);
  EXPECT_TRUE(again.error().text.starts_with("the connection to the store is lost: "))
      << again.error().text;
}

// A port that nobody listens on and nobody else gets, though a server that asks for it can have it.
class ReservedPort {
 public:
  ReservedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    number_ = ntohs(address.sin_port);
  }
  std::uint16_t number() const { return number_; }

 private:
  UniqueFd socket_;
  std::uint16_t number_ = 0;
};

TEST(StoreClientConnect, WaitsUntilTheServerIsThere) {
  const ReservedPort port;
  ClientOptions options;
  options.port = port.number();
  std::promise<Result<StoreClient>> answer;
  std::thread thread([&] { answer.set_value(StoreClient::connect(options)); });
  server::ServerOptions server_options;
  server_options.port = options.port;
  const RunningServer server(server_options);
  EXPECT_TRUE(answer.get_future().get());
  thread.join();
}

TEST(StoreClientConnect, SaysWhatItFoundWhenTimeIsUp) {
  const ReservedPort port;
  ClientOptions options;
  options.port = port.number();
  options.connect_timeout = 50ms;
  EXPECT_EQ(StoreClient::connect(options).error().text,
            "no store was reached at 127.0.0.1:" + std::to_string(options.port) +
                " within 50 ms: Connection refused");
  options.host = std::string(64, 'x');  // one letter too long for a name: no name server is asked
  EXPECT_NE(StoreClient::connect(options).error().text.find("looking up 'xxxx"), std::string::npos);
}

TEST(StoreClientConnect, AProgramThatNeverAnswersIsGivenUpInTime) {
  const auto silent = server::open_listener("127.0.0.1", 0, "");
  ClientOptions options;
  options.port = silent->port;
  options.connect_timeout = 100ms;
  const auto start = Clock::now();
  EXPECT_NE(StoreClient::connect(options).error().text.find("no answer in time"),
            std::string::npos);
  EXPECT_LT(Clock::now() - start, kPatience);
}

}  // namespace
}  // namespace ddprun::client
