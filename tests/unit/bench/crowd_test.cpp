#include "tests/bench/crowd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "tests/unit/server/running_server.h"

namespace ddprun::bench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string greeting_and_add() {
  std::string bytes;
  protocol::encode_validate(bytes);
  protocol::encode_key_number(bytes, protocol::Operation::kAdd, "/here", 1);
  return bytes;
}

TEST(CrowdTest, EachClientSpeaksOnceAndIsHeard) {
  server::RunningServer server;
  Crowd crowd({.port = server.port(), .clients = 100, .at_once = 7});
  std::set<std::string> replies;
  std::size_t greetings = 0;
  crowd.run(
      [&](std::size_t) {
        ++greetings;
        return greeting_and_add();
      },
      [&](std::size_t client, std::string_view bytes) {
        replies.emplace(bytes);
        crowd.finish(client);
      });
  EXPECT_EQ(greetings, 100U);
  EXPECT_EQ(replies.size(), 100U) << "ADD has answered each with another number";
}

TEST(CrowdTest, GoesOnUntilEachHasFinishedAgain) {
  server::RunningServer server;
  Crowd crowd({.port = server.port(), .clients = 10});
  crowd.run([](std::size_t) { return greeting_and_add(); },
            [&](std::size_t client, std::string_view) { crowd.finish(client); });
  std::string request;
  protocol::encode_key_number(request, protocol::Operation::kAdd, "/here", 1);
  for (std::size_t client = 0; client < 10; ++client) crowd.send(client, request);
  std::set<std::size_t> heard;
  crowd.go_on([&](std::size_t client, std::string_view) {
    heard.insert(client);
    crowd.finish(client);
  });
  EXPECT_EQ(heard.size(), 10U);
  EXPECT_EQ(server::RawClient(server.port()).ask(store::add("/here", 0), 8), store::number(20));
}

TEST(CrowdTest, ClientsHaveTheAddressThatTheyAreGiven) {
  server::RunningServer server;
  Crowd crowd({.port = server.port(), .source = "127.0.0.7", .clients = 1});
  crowd.run([](std::size_t) { return greeting_and_add(); },
            [&](std::size_t client, std::string_view) { crowd.finish(client); });
  EXPECT_THROW(Crowd({.source = "elsewhere", .clients = 1}).run({}, {}), std::runtime_error);
}

TEST(CrowdTest, AConnectionThatEndsIsAFailure) {
  server::RunningServer server;
  Crowd crowd({.port = server.port(), .clients = 1});
  EXPECT_THAT(
      [&] {
        crowd.run([](std::size_t) { return std::string("no protocol at all"); },
                  [](std::size_t, std::string_view) {});
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("client 0: ")));
}

TEST(CrowdTest, WhoeverIsNotFinishedInTimeIsAFailure) {
  server::RunningServer server;
  Crowd crowd({.port = server.port(), .clients = 2, .patience = std::chrono::milliseconds(1)});
  EXPECT_THAT(
      [&] {
        crowd.run([](std::size_t) { return greeting_and_add(); },
                  [](std::size_t, std::string_view) {});
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("only 0 of 2 clients have finished in time")));
}

}  // namespace
}  // namespace ddprun::bench
