// The client against servers that say what the test wants.
#include "rendezvous/client/roster_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <optional>

#include "rendezvous/client/look_up.h"
#include "rendezvous/client/strangers.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"

namespace ddprun::client {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using testing::HasSubstr;

std::string bytes_of(const std::vector<protocol::ServerMessage>& messages) {
  std::string bytes;
  protocol::encode_opening(bytes, protocol::kRosterProtocol);
  for (const auto& message : messages) protocol::encode(bytes, message);
  return bytes;
}

const protocol::Welcome kWelcome{.member = 3,
                                 .server = "s",
                                 .server_host = "a",
                                 .server_version = "1",
                                 .ping_interval = 20ms,
                                 .ping_attempts = 2,
                                 .run_directory = "r"};

class RosterClientTest : public testing::Test {
 protected:
  RosterClientTest() : acceptor_(io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)) {}

  void connect(std::chrono::nanoseconds patience = 20s, std::chrono::nanoseconds pause = {},
               std::optional<std::chrono::nanoseconds> of = {}) {
    options_.port = acceptor_.local_endpoint().port();
    client_ = std::make_unique<RosterClient>(io_, options_, [this](RosterEvent event) {
      if (std::holds_alternative<RosterConnected>(event)) client_->send(protocol::Leave{"hello"});
      events_.push_back(std::move(event));
    });
    client_->connect(patience, pause, of);
  }
  // Closes the next connections at once, without a reset.
  void close_all(int most = 1'000'000) {
    acceptor_.async_accept([this, most](auto failed, tcp::socket peer) {
      if (failed) return;
      boost::system::error_code ignored;
      char opening[64];
      peer.read_some(boost::asio::buffer(opening), ignored);
      ++refused_;
      if (refused_ < most) close_all(most);
    });
  }
  // Accepts once, sends `bytes`, and keeps the connection unless `close`.
  void serve(std::string bytes, bool close = false) {
    acceptor_.async_accept([this, bytes = std::move(bytes), close](auto failed, tcp::socket peer) {
      if (failed) return;
      peer_.emplace(std::move(peer));
      boost::asio::write(*peer_, boost::asio::buffer(bytes));
      if (close) peer_.reset();
    });
  }
  // Runs until an event of this type is there.
  template <class T>
  T wait_for() {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < until) {
      for (const RosterEvent& event : events_)
        if (const auto* found = std::get_if<T>(&event)) return *found;
      io_.run_one_for(100ms);
    }
    ADD_FAILURE() << "no such event";
    return T{};
  }
  // What the client has sent, at least `size` bytes.
  std::string receive(std::size_t size) {
    std::string bytes(size, '\0');
    boost::asio::read(*peer_, boost::asio::buffer(bytes));
    return bytes;
  }

  boost::asio::io_context io_{1};
  tcp::acceptor acceptor_;
  std::optional<tcp::socket> peer_;
  int refused_ = 0;
  RosterClientOptions options_{.host = "127.0.0.1"};
  std::vector<RosterEvent> events_;
  std::unique_ptr<RosterClient> client_;
};

TEST_F(RosterClientTest, SaysWhereItIsAndHandsMessagesOver) {
  serve(bytes_of({kWelcome}));
  connect();
  EXPECT_EQ(wait_for<RosterConnected>().local_address, "127.0.0.1");
  const auto message = wait_for<protocol::ServerMessage>();
  EXPECT_EQ(std::get<protocol::Welcome>(message).member, 3U);
  std::string expected;
  protocol::encode_opening(expected, protocol::kRosterProtocol);
  protocol::encode(expected, protocol::Leave{"hello"});
  EXPECT_EQ(receive(expected.size()), expected);
}

TEST_F(RosterClientTest, AnswersPingsByItself) {
  serve(bytes_of({protocol::Ping{42}, protocol::Notice{"behind"}}));
  connect();
  EXPECT_EQ(std::get<protocol::Notice>(wait_for<protocol::ServerMessage>()).text, "behind");
  std::string expected;
  protocol::encode_opening(expected, protocol::kRosterProtocol);
  protocol::encode(expected, protocol::Leave{"hello"});
  protocol::encode(expected, protocol::Pong{42});
  for (int i = 0; i < 3; ++i) io_.run_one_for(50ms);
  EXPECT_EQ(receive(expected.size()), expected);
}

TEST_F(RosterClientTest, ASilentServerIsLost) {
  serve(bytes_of({kWelcome}));
  connect();
  EXPECT_THAT(wait_for<RosterLost>().why, HasSubstr("silent"));
}

TEST_F(RosterClientTest, AClosedConnectionIsLost) {
  serve(bytes_of({kWelcome}), true);
  connect();
  EXPECT_THAT(wait_for<RosterLost>().why, HasSubstr("its connection was"));
}

TEST_F(RosterClientTest, TriesUntilSomebodyListens) {
  const auto port = acceptor_.local_endpoint().port();
  acceptor_.close();
  options_.port = port;
  client_ = std::make_unique<RosterClient>(
      io_, options_, [this](RosterEvent event) { events_.push_back(std::move(event)); });
  client_->connect(20s);
  EXPECT_EQ(wait_for<RosterUnreachable>().why, "connection refused");
  acceptor_ = tcp::acceptor(io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), port));
  serve(bytes_of({protocol::Notice{"here"}}));
  wait_for<protocol::ServerMessage>();
}

TEST_F(RosterClientTest, GivesUpInTimeAndSaysOnWhat) {
  acceptor_.close();
  options_.port = 1;
  options_.first_pause = options_.longest_pause = 0ms;  // at the end a try is under way
  client_ = std::make_unique<RosterClient>(
      io_, options_, [this](RosterEvent event) { events_.push_back(std::move(event)); });
  client_->connect(100ms);
  const auto gave_up = wait_for<RosterGaveUp>();
  EXPECT_EQ(gave_up.why, "127.0.0.1:1 could not be reached within 0.1 s: connection refused");
  EXPECT_FALSE(gave_up.stranger);
}

TEST_F(RosterClientTest, AWebServerIsNamedAtOnce) {
  serve("HTTP/1.1 400 Bad Request\r\n\r\n");
  connect();
  const auto gave_up = wait_for<RosterGaveUp>();
  EXPECT_TRUE(gave_up.stranger);
  EXPECT_THAT(gave_up.why, HasSubstr("is taken by a web server (it answers 'HTTP/1.1 400 Bad "
                                     "Request')"));
}

TEST_F(RosterClientTest, WhoClosesEachConnectionWithoutAWordForLongIsAStranger) {
  options_.stranger_after = 300ms;
  options_.longest_pause = 50ms;
  close_all();
  connect();
  const auto gave_up = wait_for<RosterGaveUp>();
  EXPECT_TRUE(gave_up.stranger);
  EXPECT_THAT(gave_up.why, HasSubstr("for 0.3 s it has closed each connection without a word"));
}

// A server that has only just begun, or is about to end.
TEST_F(RosterClientTest, WhoClosesSomeConnectionsWithoutAWordIsNone) {
  options_.first_pause = options_.longest_pause = 1ms;
  close_all(30);
  connect();
  EXPECT_EQ(wait_for<RosterUnreachable>().why, "it closed the connection without a word");
  while (refused_ < 30) io_.run_one_for(100ms);
  serve(bytes_of({kWelcome}));
  wait_for<protocol::ServerMessage>();
}

TEST_F(RosterClientTest, AServerThatNeverAnswersIsAskedAgainAndGivenUpInTime) {
  options_.answer_timeout = 100ms;
  serve(bytes_of({protocol::Ping{1}}));
  connect(1s);
  EXPECT_EQ(wait_for<RosterUnreachable>().why,
            "it takes connections and has not answered for 0.1 s (read_timeout)");
  EXPECT_THAT(wait_for<RosterGaveUp>().why, HasSubstr("could not be reached within 1 s: "));
}

TEST_F(RosterClientTest, AServerThatNeverAnswersDoesNotOutlastThePatience) {
  serve(bytes_of({}));
  connect(200ms);
  EXPECT_THAT(wait_for<RosterGaveUp>().why,
              HasSubstr("within 0.2 s: it takes connections and does not answer"));
}

// The kernel completes the connection, and nobody accepts it.
TEST_F(RosterClientTest, WhoTakesConnectionsAndSaysNothingIsSaidAtTheEnd) {
  connect(500ms);
  EXPECT_THAT(wait_for<RosterGaveUp>().why,
              HasSubstr("within 0.5 s: somebody takes connections there and says nothing"));
}

TEST_F(RosterClientTest, TheSpanThatIsToldIsTheOneThatTheOwnerGave) {
  connect(100ms, {}, 2s);
  EXPECT_THAT(wait_for<RosterGaveUp>().why, HasSubstr("could not be reached within 2 s: "));
}

TEST_F(RosterClientTest, AServerThatEndsBeforeItHasAnsweredIsWaitedFor) {
  serve(bytes_of({}), true);
  connect();
  EXPECT_THAT(wait_for<RosterUnreachable>().why, HasSubstr("before it had answered"));
  serve(bytes_of({kWelcome}));
  wait_for<protocol::ServerMessage>();
}

TEST_F(RosterClientTest, ThePauseComesBeforeTheFirstTry) {
  serve(bytes_of({kWelcome}));
  const auto begun = std::chrono::steady_clock::now();
  connect(20s, 200ms);
  wait_for<RosterConnected>();
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 200ms);
}

TEST_F(RosterClientTest, ANameThatDoesNotExistIsToldAndGivenUpInTime) {
  options_.host = "no.such.host.invalid";
  connect(300ms);
  EXPECT_THAT(wait_for<RosterGaveUp>().why, HasSubstr("no.such.host.invalid"));
}

TEST_F(RosterClientTest, AnotherProtocolIsRefusedWithBothNumbers) {
  std::string bytes;
  protocol::encode_opening(bytes, 99);
  protocol::encode(bytes, protocol::ServerMessage(protocol::Notice{"x"}));
  serve(bytes);
  connect();
  EXPECT_THAT(wait_for<RosterGaveUp>().why, HasSubstr("version 99 of the roster protocol"));
}

TEST(StrangerTest, IsDescribedByWhatItAnswers) {
  EXPECT_EQ(describe_stranger(std::string_view("\x15\x03\x01", 3)), "a program that wants TLS");
  EXPECT_EQ(describe_stranger("<!DOCTYPE HTML>\n<html lang"),
            "a web server (it answers '<!DOCTYPE HTML>')");
  EXPECT_EQ(describe_stranger("SSH-2.0-x\r\n"), "an SSH server (it answers 'SSH-2.0-x')");
  EXPECT_EQ(describe_stranger(std::string_view("\1A", 2)),
            "a program that is neither ddprun nor rdzvd (it answers '?A')");
}

TEST(LookUpTest, ALiteralNeedsNoResolver) {
  boost::asio::io_context io;
  std::optional<Addresses> found;
  LookUp look_up(io, "::1", [&](Result<Addresses> addresses) { found = addresses.value(); });
  io.run_for(10s);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front().to_string(), "::1");
}

// Where no descriptor is left.
TEST(LookUpTest, WhatCannotBeAskedIsAnError) {
  boost::asio::io_context io;
  const boost::asio::posix::stream_descriptor first(io);  // the loop's own descriptors are there
  std::optional<std::string> why;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  LookUp look_up(io, "localhost", [&](const Result<Addresses>& found) {
    if (!found) why = found.error().text;
  });
  ::setrlimit(RLIMIT_NOFILE, &before);
  io.run_for(10s);
  EXPECT_EQ(why, "pipe: Too many open files");
}

TEST(LookUpTest, ForgottenOnesAnswerNobody) {
  boost::asio::io_context io;
  bool answered = false;
  {
    const LookUp look_up(io, "localhost", [&](const auto&) { answered = true; });
  }
  io.run_for(200ms);
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace ddprun::client
