// Clients that send garbage, stop in the middle, announce gigabytes or do not read: the connection
// is dropped with one line that says why, and the others notice nothing.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "tests/unit/server/running_server.h"

namespace ddprun::server {
namespace {

using namespace store;
using namespace std::string_literals;

// A client whose store works, before and after whatever the test does.
class HostileClients : public testing::Test {
 protected:
  explicit HostileClients(ServerOptions options = {}) : server_(options), good_(server_.port()) {
    good_.send(set("/k", "value"));
  }
  void good_client_works() { EXPECT_EQ(good_.ask(get("/k"), 13), text("value")); }
  std::string only_line() {
    const std::vector<std::string> lines = server_.lines();
    EXPECT_EQ(lines.size(), 1u);
    return lines.empty() ? "" : lines.front();
  }

  RunningServer server_;
  RawClient good_;
};

TEST_F(HostileClients, OtherProtocolsAreNamedAndClosed) {
  const std::vector<std::pair<std::string, std::string>> strangers{
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "it speaks HTTP; "},
      {"DDPR\x01", "it speaks the roster protocol; "},
      {"\x16\x03\x01\x02", "it speaks TLS; "},
      {"\x00\x06\x00\x00\x00"s, "it speaks an unknown protocol; "},
      {"\x63", "it speaks an unknown protocol; "}};
  for (const auto& [bytes, why] : strangers) {
    RawClient stranger(server_.port(), false);
    stranger.send(bytes);
    const bool tls = why == "it speaks TLS; ";
    EXPECT_EQ(stranger.receive_all(), tls ? "there is no TLS here\n" : "");
    good_client_works();
    EXPECT_NE(server_.lines().back().find("closed the connection of 127.0.0.1:"),
              std::string::npos);
    EXPECT_NE(server_.lines().back().find(why), std::string::npos) << server_.lines().back();
  }
  EXPECT_EQ(server_.lines().size(), strangers.size());
  EXPECT_EQ(server_.statistics().strangers, strangers.size());
  EXPECT_EQ(server_.statistics().dropped, 0u);
}

TEST_F(HostileClients, TwoGigabytesAnnouncedAreNeitherAwaitedNorAllocated) {
  RawClient client(server_.port());
  std::string request = set("/big", "");
  request.resize(request.size() - 8);
  client.send(request + number(std::int64_t{2} << 30));
  EXPECT_TRUE(client.is_closed());
  EXPECT_NE(only_line().find("SET: a value length of 2147483648 is over the limit of 67108864 "
                             "(max_value_bytes)"),
            std::string::npos);
  EXPECT_LT(server_.statistics().memory_bytes, 1'000u);
  EXPECT_EQ(server_.statistics().dropped, 1u);
  good_client_works();
}

TEST_F(HostileClients, HalfARequestHoldsNobodyUp) {
  RawClient half(server_.port());
  const std::string request = multi_set({{"/k", "other"}, {"/k2", "x"}});
  half.send(request.substr(0, request.size() - 1));
  good_client_works();
  half.close();
  server_.await([](const ServerStatistics& now) { return now.connections == 1; });
  good_client_works();  // nothing of the half request was applied
  EXPECT_EQ(server_.statistics().keys, 1u);
  EXPECT_TRUE(server_.lines().empty()) << "to leave is nobody's fault";
}

TEST_F(HostileClients, RandomBytesDisturbNobody) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    RawClient client(server_.port(), round % 2 == 0);
    std::string bytes(1 + random() % 400, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % (round % 3 == 0 ? 256 : 19));
    client.send(bytes);
    if (round % 16 == 0) good_client_works();
  }
  server_.await([](const ServerStatistics& now) { return now.connections == 1; });
  good_.sync();
}

TEST_F(HostileClients, GoodRequestsBeforeABadOneAreStillAnswered) {
  RawClient client(server_.port());
  EXPECT_EQ(client.ask(get("/k") + "\x63", 13), text("value"));
  EXPECT_TRUE(client.is_closed());
  EXPECT_NE(only_line().find("there is no operation 99"), std::string::npos);
}

TEST_F(HostileClients, AddToATextClosesTheCallerOnly) {
  RawClient client(server_.port());
  client.send(add("/k", 1));
  EXPECT_TRUE(client.is_closed());
  EXPECT_NE(only_line().find("ADD: the key holds a text that is no 64-bit number"),
            std::string::npos);
  good_client_works();
}

TEST_F(HostileClients, AClientThatNeverReadsIsDroppedAtItsLimit) {
  good_.send(set("/large", std::string(8 << 20, 'x')));
  good_.sync();
  RawClient silent(server_.port());
  // One reply is being sent and seven wait: less than 64 MiB.
  for (int i = 0; i < 8; ++i) silent.send(get("/large"));
  good_client_works();
  EXPECT_TRUE(server_.lines().empty());
  for (int i = 0; i < 30; ++i) silent.send(get("/large"));
  server_.await([](const ServerStatistics& now) { return now.dropped == 1; });
  EXPECT_NE(only_line().find("it does not read: "), std::string::npos);
  EXPECT_NE(only_line().find("over the limit of 67108864 (max_unsent_bytes)"), std::string::npos);
  good_client_works();
}

class SmallLimits : public HostileClients {
 protected:
  static ServerOptions options() {
    ServerOptions options;
    options.max_unsent_bytes = 1 << 20;
    options.store_limits.max_memory_bytes = 64 << 20;
    return options;
  }
  SmallLimits() : HostileClients(options()) {}
};

TEST_F(SmallLimits, OneReplyOfAnyLegalSizeGoesOutWhole) {
  const std::string value(6 << 20, 'x');
  good_.send(set("/large", value));
  const Keys keys(8, "/large");
  good_.send(multi_get(keys));  // 48 times the limit, and nobody reads yet
  RawClient other(server_.port());
  EXPECT_EQ(other.ask(get("/k"), 13), text("value"));
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(good_.receive(value.size() + 8) == text(value));
  good_client_works();
}

TEST_F(SmallLimits, UnfinishedRequestsCountAsMemory) {
  std::vector<RawClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back(server_.port());
    clients.back().send(set("/v", std::string(16 << 20, 'x')).substr(0, 15 << 20));
  }
  server_.await([](const ServerStatistics& now) { return now.dropped == 1; });
  EXPECT_NE(only_line().find("over the limit of 67108864 (max_memory_bytes)"), std::string::npos);
  EXPECT_LT(server_.statistics().memory_bytes, std::uint64_t{64} << 20);
  good_client_works();
}

TEST_F(SmallLimits, NotWhoeverSpeaksIsDroppedButWhoeverHoldsMost) {
  // The keys leave nothing but the reserve, a sixteenth of 64 MiB.
  for (int i = 0; i < 63; ++i)
    good_.send(set("/full" + std::to_string(i), std::string((1 << 20) + 16'000, 'x')));
  good_.sync();
  RawClient small(server_.port());
  const std::string request = get("/k");
  small.send(request.substr(0, 3));
  std::vector<RawClient> hoarders;
  for (int i = 0; i < 3; ++i) {
    hoarders.emplace_back(server_.port());
    hoarders.back().send(set("/v", std::string(3 << 20, 'x')).substr(0, (2 << 20) + 100'000));
    good_client_works();
  }
  server_.await([](const ServerStatistics& now) { return now.dropped == 2; });
  EXPECT_EQ(small.ask(request.substr(3), 13), text("value")) << "it had sent three bytes";
  good_client_works();
  for (const std::string& line : server_.lines())
    EXPECT_NE(line.find(" bytes are the largest of its address, "), std::string::npos) << line;
}

// Nobody of the crowd holds as much as the good one.
TEST_F(SmallLimits, OneAddressLosesNothingToAnotherOneThatHoldsMore) {
  const auto half = [](std::size_t size) {
    return set("/v", std::string(16 << 20, 'x')).substr(0, size);
  };
  RawClient large(server_.port());
  large.send(half(12 << 20));
  std::deque<RawClient> crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.emplace_back().connect_from("127.0.0.2", server_.port());
    crowd.back().greet();
    crowd.back().send(half(8 << 20));
  }
  server_.await([](const ServerStatistics& now) { return now.dropped >= 2; });
  large.send(set("/v", std::string(16 << 20, 'x')).substr(12 << 20));
  large.sync();
  good_client_works();
  for (const std::string& line : server_.lines())
    EXPECT_NE(line.find("closed the connection of 127.0.0.2:"), std::string::npos) << line;
}

TEST_F(SmallLimits, UnreadRepliesCountAsMemory) {
  good_.send(set("/small", std::string(1'000, 'x')));
  good_.sync();
  // 60 MB of copies in one reply, which the limit on what waits behind it does not see.
  const Keys keys(60'000, "/small");
  std::vector<RawClient> silent;
  for (int i = 0; i < 2; ++i) {
    silent.emplace_back(server_.port());
    silent.back().send(multi_get(keys));
  }
  server_.await([](const ServerStatistics& now) { return now.dropped == 1; });
  EXPECT_NE(only_line().find("over the limit of 67108864 (max_memory_bytes)"), std::string::npos);
  good_client_works();
}

// All is sent before the server runs, and what has arrived is read before a timer is looked at:
// however slow the machine is, the good one is in time.
TEST(SilentClients, AreTimedOutBeforeTheirFirstBytesAndNotBehindThem) {
  boost::asio::io_context io;
  std::vector<std::string> lines;
  ServerOptions options;
  options.handshake_timeout = std::chrono::milliseconds(200);
  options.log = [&](const std::string& line) { lines.push_back(line); };
  auto server = std::move(Server::listen(io, std::move(options)).value());
  RawClient good(server->port());
  RawClient silent(server->port(), false);
  RawClient slow(server->port(), false);
  slow.send("\x00\xCE"s);
  while (lines.size() < 2) ASSERT_GT(io.run_one_for(std::chrono::milliseconds(kPatienceMs)), 0u);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(slow.is_closed());
  EXPECT_EQ(server->statistics().strangers, 2u);
  EXPECT_EQ(server->statistics().connections, 1u) << "the good one has said who it is";
  EXPECT_NE(lines[0].find("it sent 0 bytes within 200 ms"), std::string::npos);
  EXPECT_NE(lines[1].find("it sent 2 bytes within 200 ms"), std::string::npos);
}

}  // namespace
}  // namespace ddprun::server
