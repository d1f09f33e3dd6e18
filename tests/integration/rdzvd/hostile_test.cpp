// What comes from outside must not disturb the runs of a real rdzvd, nor grow its memory: each test
// ends with the daemon as it was before, and with a run that meets and ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <random>

#include "tests/integration/rdzvd/real_rdzvd.h"

namespace ddprun::test {
namespace {

using namespace protocol;
using namespace std::string_literals;
using server::join_of;
using server::RawAgent;
using server::RawClient;
using testing::HasSubstr;

constexpr std::size_t kLimit = 1'000;  // connections
// What the allocator may keep of a burst.
constexpr long kKeptKilobytes = 12'000;

class HostileRdzvd : public testing::Test {
 protected:
  explicit HostileRdzvd(std::vector<std::string> options = {}) : rdzvd_(with_limits(options)) {
    // Where the handshake is short a slow machine may need more than one try.
    do {
      a_.emplace(rdzvd_.port());
      a_->say(join_of("good", "a", 2));
    } while (!a_->await<Welcome>());
    descriptors_ = descriptors();
    resident_ = resident();
  }

  static std::vector<std::string> with_limits(std::vector<std::string> options) {
    for (const char* each :
         {"--max-connections", "1000", "--max-memory", "64M", "--log-level", "warning"})
      options.emplace_back(each);
    return options;
  }
  std::string proc() const { return "/proc/" + std::to_string(rdzvd_.program().pid()); }
  long descriptors() const {
    return std::distance(std::filesystem::directory_iterator(proc() + "/fd"), {});
  }
  long resident() const { return rdzvd_.resident(); }
  std::string refusal_of(const std::string& bytes) {
    RawAgent agent(rdzvd_.port());
    agent.send(bytes);
    const auto refused = agent.await<Refused>();
    return refused ? refused->why : "";
  }
  static std::string frame(const std::string& json) {
    std::string bytes;
    encode_frame(bytes, json);
    return bytes;
  }

  // A second node comes, and the run begins and ends.
  void the_run_goes_on() {
    RawAgent b(rdzvd_.port());
    b.say(join_of("good", "b", 2));
    EXPECT_TRUE(b.await<Assignment>());
    EXPECT_TRUE(a_->await<Assignment>());
    a_->say(protocol::Finished{.round = 0});
    b.say(protocol::Finished{.round = 0});
    EXPECT_TRUE(a_->await<Closed>());
    a_.reset();
  }
  // The daemon ends; returns its log.
  std::vector<std::string> all_is_as_before() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (descriptors() > descriptors_ && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(descriptors(), descriptors_);
    EXPECT_LT(resident(), resident_ + kKeptKilobytes);
    RecordProperty("resident_before_kb", static_cast<int>(resident_));
    RecordProperty("resident_after_kb", static_cast<int>(resident()));
    the_run_goes_on();
    const Finished end = rdzvd_.stop();
    EXPECT_EQ(end.code, 0);
    return lines(end.err);
  }

  mutable RealRdzvd rdzvd_;
  std::optional<RawAgent> a_;
  long descriptors_ = 0;
  long resident_ = 0;
};

// How many lines say this, those that were only counted included.
std::size_t count_lines(const std::vector<std::string>& log, const std::string& text) {
  std::size_t count = 0;
  for (const std::string& line : log) {
    if (line.find(text) == std::string::npos) continue;
    const std::size_t more = line.find("… and ");
    count += more == std::string::npos ? 1 : std::strtoul(line.c_str() + more + 8, nullptr, 10);
  }
  return count;
}

TEST_F(HostileRdzvd, BytesOfAnyKind) {
  std::mt19937 random(5);
  const std::vector<std::string> openings{"", "DDPR\x01\x00\x00\x00"s,
                                          "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s,
                                          "\x00\xCE\xF7\x85\x3C"s, "GET / HTTP/1.1\r\n"};
  for (std::size_t round = 0; round < 400; ++round) {
    RawClient client(rdzvd_.port(), false);
    std::string bytes(random() % 500, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    client.send(openings[round % openings.size()] + bytes);
  }
  const std::vector<std::string> log = all_is_as_before();
  EXPECT_GT(count_lines(log, "closed the connection of 127.0.0.1:"), 100u);
  EXPECT_LT(log.size(), 150u) << "many alike are counted";
}

TEST_F(HostileRdzvd, TlsIsNamed) {
  RawClient client(rdzvd_.port(), false);
  client.send("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s);
  EXPECT_EQ(client.receive_all(), "there is no TLS here\n") << "by which its user knows";
  EXPECT_EQ(count_lines(all_is_as_before(),
                        "it speaks TLS; the c10d store protocol, the roster "
                        "protocol and HTTP are served here"),
            1u);
}

TEST_F(HostileRdzvd, HttpOddities) {
  const std::string huge(17 << 10, 'x');
  const std::vector<std::pair<std::string, std::string>> requests{
      {"GET /" + huge + " HTTP/1.1\r\n\r\n", "431"},
      {"GET / HTTP/1.1\r\nX: " + huge + "\r\n\r\n", "431"},
      {"GET  HTTP/1.1\r\n\r\n", "400"},
      {"GET / HTTP/9.9\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nX: a\0b\r\n\r\n"s, "400"},
      {"GET http://elsewhere/ HTTP/1.1\r\n\r\n", "400"},
      {"GET /api/v1/runs/%zz HTTP/1.1\r\n\r\n", "400"},
      {"GET /../../etc/passwd HTTP/1.1\r\n\r\n", "404"},
      {"POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", "400"},
      {"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", "405"},
      {"GET /healthz HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n", "200"},
      {"GET /healthz HTTP/1.0\r\n\r\n", "200"}};
  for (const auto& [request, status] : requests) {
    RawClient client(rdzvd_.port(), false);
    client.send(request);
    const std::string answer = client.receive_all();
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 " + status) << request.substr(0, 60);
    EXPECT_EQ(answer.find("HTTP/1.1 ", 1), std::string::npos) << "one answer, then the end";
  }
  EXPECT_TRUE(all_is_as_before().empty()) << "whoever asks is told; the log is not";
}

TEST_F(HostileRdzvd, LengthsThatAreLies) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(refusal_of("\xff\xff\xff\x7f"s), HasSubstr("announces 2147483647 bytes"));
    EXPECT_THAT(refusal_of("\x00\x00\x00\x00"s), HasSubstr("announces 0 bytes"));
    RawClient store(rdzvd_.port());
    store.send("\x01"s);  // GET, of a key of 2 GB
    store.send("\x00\x00\x00\x80\x00\x00\x00\x00"s);
    EXPECT_TRUE(store.is_closed());
  }
  EXPECT_EQ(count_lines(all_is_as_before(), "closed the connection of 127.0.0.1:"), 60u);
}

TEST_F(HostileRdzvd, BombsOfJson) {
  std::string members = "{\"type\":\"join\"";
  for (int i = 0; i < 70'000; ++i) members += ",\"m" + std::to_string(i) + "\":[]";
  const std::vector<std::pair<std::string, std::string>> bombs{
      {std::string(kMaxFrameBytes, '['), "is not JSON"},
      {"{\"type\":" + std::string(1'000, '{'), "is not JSON"},
      {"\"" + std::string(kMaxFrameBytes - 2, 'x') + "\"", "an object is needed"},
      {"{\"type\":\"" + std::string(1'000'000, 'x') + "\"}", "is not known here"},
      {"{\"type\":\"join\",\"run\":\"" + std::string(1'000'000, 'x') + "\"}",
       "at most 256 are allowed"},
      {members + "}", "\"run\" is missing"},
      {"{\"type\":\"join\",\"run\":1e999999}", "a string is needed"}};
  for (int i = 0; i < 10; ++i) {
    for (const auto& [bomb, why] : bombs) {
      const std::string refusal = refusal_of(frame(bomb));
      EXPECT_THAT(refusal, HasSubstr(why));
      EXPECT_LT(refusal.size(), 5'000u);
    }
  }
  EXPECT_EQ(count_lines(all_is_as_before(), "closed the connection of 127.0.0.1:"), 70u);
}

TEST_F(HostileRdzvd, WrongVersionsAndDuplicateNodes) {
  RawAgent newer(rdzvd_.port(), 99);
  const auto wrong = newer.await<Refused>();
  ASSERT_TRUE(wrong);
  EXPECT_THAT(wrong->why, HasSubstr("roster protocol 1, this node's speaks 99"));
  protocol::Join join = join_of("static", "a", 2);
  join.static_ranks = true;
  join.node_rank = 0;
  RawAgent first(rdzvd_.port());
  first.say(join);
  ASSERT_TRUE(first.await<Welcome>());
  join.node = "b";
  for (int i = 0; i < 5; ++i) {
    RawAgent duplicate(rdzvd_.port());
    duplicate.say(join);
    const auto ping = first.await<Ping>();
    ASSERT_TRUE(ping);
    first.say(Pong{.id = ping->id});
    const auto refused = duplicate.await<Refused>();
    ASSERT_TRUE(refused);
    EXPECT_THAT(refused->why, HasSubstr("node rank 0 of run static is taken"));
  }
  RawAgent twice(rdzvd_.port());
  twice.say(join_of("twice", "a", 2));
  twice.say(join_of("twice", "a", 2));
  EXPECT_TRUE(twice.await<Refused>());
  EXPECT_TRUE(twice.is_closed());
  first.close();
  newer.close();
  twice.close();
  EXPECT_EQ(count_lines(all_is_as_before(), "refused 127.0.0.1:"), 6u);
}

class ShortHandshake : public HostileRdzvd {
 protected:
  ShortHandshake() : HostileRdzvd({"--handshake-timeout", "1"}) {}
};

TEST_F(ShortHandshake, HalfOpenAndSlowConnectionsEndAtTheLimit) {
  std::deque<RawClient> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(rdzvd_.port(), false);
  // Byte for byte, until the server has had enough.
  const std::vector<std::string> texts{"\x00\xCE\xF7"s, "DDPR\x01\x00\x00\x00\x20\x00\x00\x00{"s,
                                       "GET / HTTP/1.1\r\nX: aaaaaaaa"};
  std::deque<RawClient> slow;
  for (std::size_t i = 0; i < texts.size(); ++i) slow.emplace_back(rdzvd_.port(), false);
  for (std::size_t at = 0; at < 25; ++at) {
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (at < texts[i].size()) slow[i].send(texts[i].substr(at, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // its slowness is the test
  }
  for (RawClient& each : silent) EXPECT_TRUE(each.is_closed());
  for (RawClient& each : slow) {
    each.receive_all();
    EXPECT_TRUE(each.is_closed());
  }
  const std::vector<std::string> log = all_is_as_before();
  EXPECT_EQ(count_lines(log, "it sent ") - count_lines(log, "it sent no whole request"), 102u);
}

TEST_F(HostileRdzvd, TwentyThousandConnectionsAgainstALimitOfAThousand) {
  RawAgent x(rdzvd_.port());
  RawAgent y(rdzvd_.port());
  x.say(join_of("busy", "x", 2));
  y.say(join_of("busy", "y", 2));
  ASSERT_TRUE(x.await<Assignment>() && y.await<Assignment>());
  constexpr std::size_t kWanted = 20'000;
  const rlim_t files = allow_files(kWanted + 500);
  const std::size_t count = std::min<std::size_t>(kWanted, files - 200);
  RecordProperty("connections", static_cast<int>(count));
  if (count < kWanted)
    std::printf("only %zu connections: open files are limited to %zu\n", count,
                static_cast<std::size_t>(files));
  {
    std::deque<RawClient> many;
    for (std::size_t i = 0; i < count; ++i)
      many.emplace_back().connect_from("127.0.0." + std::to_string(2 + i % 8), rdzvd_.port());
    EXPECT_TRUE(many.back().is_closed());
    EXPECT_LT(resident(), resident_ + kKeptKilobytes);
    // All places are taken by those who came first, and who is at work goes on.
    y.say(Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 7});
    EXPECT_TRUE(x.await<Stop>());
    x.say(Drained{.round = 0, .store_port = 29'501});
    y.say(Drained{.round = 0, .store_port = 29'501});
    const auto abort = x.await<Abort>();
    ASSERT_TRUE(abort);
    EXPECT_EQ(abort->exit_code, 7);
    EXPECT_TRUE(y.await<Abort>());
  }
  x.close();
  y.close();
  const std::vector<std::string> log = all_is_as_before();
  EXPECT_EQ(count_lines(log, "it is one more than the limit of 1000 connections"),
            count + 3 - kLimit)
      << "with the agents of both runs";
  EXPECT_LT(log.size(), 40u);
}

}  // namespace
}  // namespace ddprun::test
