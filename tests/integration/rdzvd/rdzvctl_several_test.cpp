// rdzvctl where several rdzvd are one: whom it asks, and whom it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <thread>

#include "tests/integration/rdzvd/real_rdzvd.h"
#include "tests/integration/support/black_hole.h"
#include "tests/unit/client/answering.h"

namespace ddprun::test {
namespace {

using client::Answering;
using testing::HasSubstr;

class RdzvctlOfSeveral : public testing::Test {
 protected:
  ~RdzvctlOfSeveral() override { io_.stop(); }

  Finished status_at(const std::string& endpoints) {
    if (!loop_.joinable()) loop_ = std::jthread([this] { io_.run(); });
    return run({DDPRUN_RDZVCTL, "--endpoint", endpoints, "status"});
  }
  static protocol::Elsewhere at(const std::string& head) {
    return {.endpoint = head, .why = "the head is rdzvd at " + head};
  }

  // Too long for one that is asked when the time is over.
  static constexpr std::chrono::milliseconds kALittle{500};
  const protocol::StatusAnswer no_runs_{.runs = boost::json::array()};
  boost::asio::io_context io_{1};
  Answering standing_by_{io_}, head_{io_};
  std::jthread loop_;
};

TEST_F(RdzvctlOfSeveral, AHostWithoutPowerIsPassedOver) {
  const BlackHole dead;
  head_.say_after(kALittle, no_runs_);
  const Finished end = status_at(dead.text() + "," + head_.text());
  EXPECT_EQ(end.code, 0) << end.err;
}

TEST_F(RdzvctlOfSeveral, OneThatTakesConnectionsAndSaysNothingIsPassedOver) {
  LoopbackPort stopped;
  stopped.listen();
  head_.say_after(kALittle, no_runs_);
  const Finished end =
      status_at("127.0.0.1:" + std::to_string(stopped.number()) + "," + head_.text());
  EXPECT_EQ(end.code, 0) << end.err;
}

TEST_F(RdzvctlOfSeveral, SoIsAHeadThatIsNamedAndWithoutPower) {
  const BlackHole dead;
  standing_by_.say(at(dead.text()));
  head_.say_after(kALittle, no_runs_);
  const Finished end = status_at(standing_by_.text() + "," + head_.text());
  EXPECT_EQ(end.code, 0) << end.err;
}

TEST_F(RdzvctlOfSeveral, WhoIsThereMayTakeItsTime) {
  head_.say_after(std::chrono::seconds(4), no_runs_);
  standing_by_.say(protocol::Refused{"nobody asks here"});
  const Finished end = status_at(head_.text() + "," + standing_by_.text());
  EXPECT_EQ(end.code, 0) << end.err;
}

TEST_F(RdzvctlOfSeveral, OneThatHasGoneIsCalledWhatItIs) {
  LoopbackPort stopped;
  stopped.listen();
  const std::string where = "127.0.0.1:" + std::to_string(stopped.number());
  EXPECT_THAT(status_at(where + "," + where).err,
              HasSubstr("the connection to the rendezvous server is lost: no answer in time"));
}

TEST_F(RdzvctlOfSeveral, WhoHasRefusedIsNamed) {
  standing_by_.say(at(head_.text()));
  head_.say(protocol::Refused{"there is no such run"});
  const Finished end = status_at(standing_by_.text());
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.err, "rdzvctl: " + head_.text() + ": there is no such run\n");
}

TEST_F(RdzvctlOfSeveral, WhoHasAnsweredSomethingElseIsNamed) {
  standing_by_.say(at(head_.text()));
  head_.say(protocol::Ping{.id = 1});
  EXPECT_EQ(status_at(standing_by_.text()).err,
            "rdzvctl: " + head_.text() + ": the answer is \"ping\", which was not asked for\n");
}

TEST_F(RdzvctlOfSeveral, WhyTheHeadWasNotReachedIsTold) {
  const LoopbackPort nobody;
  const std::string head = "127.0.0.1:" + std::to_string(nobody.number());
  standing_by_.say(at(head));
  const Finished end = status_at(standing_by_.text());
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.err, "rdzvctl: " + standing_by_.text() + ": the head is to be at " + head +
                         ": Connection refused\n");
}

}  // namespace
}  // namespace ddprun::test
