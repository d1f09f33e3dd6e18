// Many runs at once, and what can be seen of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <deque>

#include "rendezvous/client/store_client.h"
#include "tests/integration/rdzvd/real_rdzvd.h"

namespace ddprun::test {
namespace {

using namespace protocol;
using server::join_of;
using server::RawAgent;
using testing::HasSubstr;

TEST(RdzvdRuns, FiftyRunsMeetFailAndEndWithoutHearingOfEachOther) {
  constexpr int kRuns = 50;
  RealRdzvd rdzvd({"--log-level", "error"});
  std::deque<RawAgent> firsts, seconds;
  for (int i = 0; i < kRuns; ++i) {
    firsts.emplace_back(rdzvd.port());
    firsts.back().say(join_of("run" + std::to_string(i), "a" + std::to_string(i), 2));
  }
  for (int i = 0; i < kRuns; ++i) {
    seconds.emplace_back(rdzvd.port());
    seconds.back().say(join_of("run" + std::to_string(i), "b" + std::to_string(i), 2));
  }
  for (int i = 0; i < kRuns; ++i) {
    const auto assignment = firsts[i].await<Assignment>();
    ASSERT_TRUE(assignment) << i;
    EXPECT_EQ(assignment->nodes.at(0).node, "a" + std::to_string(i));
    EXPECT_EQ(assignment->nodes.at(1).node, "b" + std::to_string(i));
    ASSERT_TRUE(seconds[i].await<Assignment>());
  }
  const std::string answer = get_page(rdzvd.port(), "/api/v1/runs");
  const auto runs = boost::json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  EXPECT_EQ(runs.as_array().size(), kRuns);
  // Every second run fails with its own code; the others end well.
  for (int i = 0; i < kRuns; ++i) {
    if (i % 2 == 0) {
      seconds[i].say(Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 1 + i});
      firsts[i].say(Drained{.round = 0, .store_port = 29'501});
      seconds[i].say(Drained{.round = 0, .store_port = 29'501});
    } else {
      firsts[i].say(protocol::Finished{.round = 0});
      seconds[i].say(protocol::Finished{.round = 0});
    }
  }
  for (int i = 0; i < kRuns; ++i) {
    if (i % 2 == 0) {
      const auto abort = firsts[i].await<Abort>();
      ASSERT_TRUE(abort) << i;
      EXPECT_EQ(abort->exit_code, 1 + i);
    } else {
      EXPECT_TRUE(firsts[i].await<Closed>()) << i;
    }
  }
  EXPECT_THAT(get_page(rdzvd.port(), "/api/v1/runs"), HasSubstr("\r\n\r\n[]\n"));
}

TEST(RdzvdRuns, TenThousandIdleStoreClientsCostLessThanTwoKilobytesEach) {
  constexpr std::size_t kWanted = 10'000;
  const rlim_t files = allow_files(kWanted + 500);
  const std::size_t count = std::min<std::size_t>(kWanted, files - 200);
  RecordProperty("connections", static_cast<int>(count));
  RealRdzvd rdzvd;
  std::deque<server::RawClient> clients;
  const std::string request = store::set("/k", std::string(5'000, 'x')) + store::get("/k");
  const auto come = [&](std::size_t so_many) {
    for (std::size_t i = 0; i < so_many; ++i) {
      clients.emplace_back().connect_from("127.0.0." + std::to_string(2 + i % 8), rdzvd.port());
      clients.back().greet();
      ASSERT_EQ(clients.back().ask(request, 5'008).size(), 5'008u);
    }
  };
  come(20);  // what the first ones bring about is not counted
  const long before = rdzvd.resident();
  come(count - 20);
  const long each = (rdzvd.resident() - before) * 1024 / static_cast<long>(count - 20);
  RecordProperty("bytes_each", static_cast<int>(each));
  EXPECT_LE(each, 2'048);
}

TEST(RdzvdRuns, ARunNeedsAName) {
  RealRdzvd rdzvd;
  RawAgent agent(rdzvd.port());
  agent.say(join_of("none", "a", 2));
  const auto refused = agent.await<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->why, HasSubstr("--rdzv-id"));
  EXPECT_THAT(rdzvd.stop().err, HasSubstr("warning: refused 127.0.0.1:"));
}

TEST(RdzvdRuns, StoreClientsMeetOnTheSamePort) {
  RealRdzvd rdzvd;
  RawAgent agent(rdzvd.port());
  agent.say(join_of("r", "a", 2));
  ASSERT_TRUE(agent.await<Welcome>());
  auto one = client::StoreClient::connect({.port = rdzvd.port()});
  auto other = client::StoreClient::connect({.port = rdzvd.port()});
  ASSERT_TRUE(one && other);
  EXPECT_TRUE(one->set("k", "v"));
  const auto value = other->get("k", std::chrono::seconds(10));
  ASSERT_TRUE(value && *value);
  EXPECT_EQ(**value, "v");
  EXPECT_THAT(get_page(rdzvd.port(), "/metrics"), HasSubstr("\nrdzv_store_keys 1\n"));
}

}  // namespace
}  // namespace ddprun::test
