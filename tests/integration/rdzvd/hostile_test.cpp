// What comes from outside must not disturb the runs of a real rdzvd, nor grow its memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "rendezvous/base/read_file.h"
#include "tests/integration/rdzvd/real_rdzvd.h"

namespace ddprun::test {
namespace {

using namespace protocol;
using namespace std::string_literals;
using server::join_of;
using server::RawAgent;
using server::RawClient;
using testing::HasSubstr;

long resident_kilobytes(pid_t pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  const std::size_t at = status.find("VmRSS:");
  return at == std::string::npos ? -1 : std::atol(status.c_str() + at + 6);
}

class HostileRdzvd : public testing::Test {
 protected:
  HostileRdzvd()
      : rdzvd_({"--handshake-timeout", "0.3", "--max-connections", "1000", "--max-memory", "64M",
                "--log-level", "error"}),
        a_(rdzvd_.port()) {
    a_.say(join_of("good", "a", 2));
    EXPECT_TRUE(a_.await<Welcome>());
  }
  // A second node comes and the round begins; the memory is what it was.
  void the_run_goes_on() {
    RawAgent b(rdzvd_.port());
    b.say(join_of("good", "b", 2));
    EXPECT_TRUE(b.await<Assignment>());
    EXPECT_TRUE(a_.await<Assignment>());
    EXPECT_LT(resident_kilobytes(rdzvd_.program().pid()), 64'000);
    a_.say(protocol::Finished{.round = 0});
    b.say(protocol::Finished{.round = 0});
    EXPECT_TRUE(a_.await<Closed>());
    EXPECT_EQ(rdzvd_.stop().code, 0);
  }

  RealRdzvd rdzvd_;
  RawAgent a_;
};

TEST_F(HostileRdzvd, BytesOfAnyKind) {
  std::mt19937 random(5);
  const std::vector<std::string> openings{"", "DDPR\x01\x00\x00\x00"s, "\x16\x03\x01",
                                          "\x00\xCE\xF7\x85\x3C"s, "GET / HTTP/1.1\r\n"};
  for (int round = 0; round < 400; ++round) {
    RawClient client(rdzvd_.port(), false);
    std::string bytes(random() % 500, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    client.send(openings[static_cast<std::size_t>(round) % openings.size()] + bytes);
  }
  the_run_goes_on();
}

TEST_F(HostileRdzvd, HugeAndEmptyLengthsAndBombsOfJson) {
  for (int i = 0; i < 20; ++i) {
    RawAgent huge(rdzvd_.port());
    huge.send("\xff\xff\xff\x7f"s);
    EXPECT_TRUE(huge.await<Refused>());
    RawAgent empty(rdzvd_.port());
    empty.send("\x00\x00\x00\x00"s);
    EXPECT_TRUE(empty.await<Refused>());
    RawAgent bomb(rdzvd_.port());
    std::string frame;
    encode_frame(frame, std::string(kMaxFrameBytes, '['));
    bomb.send(frame);
    EXPECT_TRUE(bomb.await<Refused>());
  }
  the_run_goes_on();
}

TEST_F(HostileRdzvd, HalfOpenAndSlowConnectionsEndAtTheLimit) {
  std::deque<RawClient> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(rdzvd_.port(), false);
  RawClient slow_agent(rdzvd_.port(), false);
  slow_agent.send("DDPR\x01\x00\x00\x00\x20"s);
  RawClient slow_browser(rdzvd_.port(), false);
  slow_browser.send("GET / HTTP/1.1\r\nX: ");
  for (RawClient& each : silent) EXPECT_TRUE(each.is_closed());
  // Byte for byte until the server has had enough.
  EXPECT_NE(slow_agent.receive_all().size(), 0u) << "its opening";
  EXPECT_TRUE(slow_agent.is_closed());
  EXPECT_TRUE(slow_browser.is_closed());
  the_run_goes_on();
}

TEST_F(HostileRdzvd, FiveHundredConnectionsOverTheLimit) {
  std::deque<RawAgent> many;
  for (int i = 0; i < 1'500; ++i) many.emplace_back(rdzvd_.port());
  EXPECT_TRUE(many.back().is_closed());
  many.clear();
  RawAgent asker(rdzvd_.port());
  asker.say(AskStatus{});
  for (int i = 0; i < 100 && !asker.await<StatusAnswer>(); ++i) {
    asker = RawAgent(rdzvd_.port());
    asker.say(AskStatus{});
  }
  the_run_goes_on();
}

TEST_F(HostileRdzvd, WrongVersionsAndDuplicateNodes) {
  RawAgent newer(rdzvd_.port(), 99);
  EXPECT_TRUE(newer.await<Refused>());
  protocol::Join join = join_of("static", "a", 2);
  join.static_ranks = true;
  join.node_rank = 0;
  RawAgent first(rdzvd_.port());
  first.say(join);
  ASSERT_TRUE(first.await<Welcome>());
  join.node = "b";
  RawAgent duplicate(rdzvd_.port());
  duplicate.say(join);
  const auto ping = first.await<Ping>();
  ASSERT_TRUE(ping);
  first.say(Pong{.id = ping->id});
  const auto refused = duplicate.await<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->why, HasSubstr("node rank 0 of run static is taken"));
  the_run_goes_on();
}

}  // namespace
}  // namespace ddprun::test
