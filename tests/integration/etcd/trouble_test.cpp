// What else may be wrong with the state in etcd: keys that were deleted, written by hand or by
// another rdzvd, many of them, and those that etcd does not take.
#include <filesystem>
#include <fstream>

#include "tests/integration/etcd/several_rdzvd.h"
#include "tests/unit/server/raw_agent.h"

namespace ddprun::test {
namespace {

using server::join_of;
using server::RawAgent;
using testing::HasSubstr;

class TroubleWithState : public SeveralRdzvd {
 protected:
  void put(const std::string& key, const std::string& value) {
    const std::string file = folder_ / "value";
    std::ofstream(file, std::ios::binary) << value;
    etcd_->control({"put", prefix_ + key}, file);
  }
  RawAgent agent_at(std::size_t number) const {
    return RawAgent(static_cast<std::uint16_t>(std::stoi(ports_[number])));
  }
};

TEST_F(TroubleWithState, AHeadWhoseKeysWereDeletedIsNoneAnyMore) {
  start_two();
  const auto a = node(wait_);
  const auto b = node(wait_);
  ASSERT_TRUE(a->wait_for_output("up 0"));
  ASSERT_TRUE(b->wait_for_output("up 0"));
  etcd_->control({"del", "--prefix", prefix_});
  EXPECT_TRUE(rdzvd(0).wait_for_error("not the head any more: "));
  EXPECT_TRUE(a->wait_for_error("found the rendezvous at"));
  release();
  expect_success(*a, "up 0\n");
  expect_success(*b, "up 0\n");
}

TEST_F(TroubleWithState, AKeyOfTheHeadThatNoRdzvdHasWrittenIsNamed) {
  put("head", "me");
  ports_.push_back(free_port());
  rdzvds_.emplace_back();
  start_again(0);
  EXPECT_TRUE(rdzvd(0).wait_for_error("standing by: what is at " + prefix_ +
                                      "head in etcd was not written by an rdzvd; if no other "
                                      "program uses the prefix, delete it: etcdctl del " +
                                      prefix_ + "head\n"));
  etcd_->control({"del", prefix_ + "head"});
  EXPECT_TRUE(becomes_head(0));
}

TEST_F(TroubleWithState, RecordsThatCannotBeReadAreLeftOut) {
  put("runs/a", "{\"type\":\"of the future\"}");
  put("runs/b", "\xff\x01");
  put("ended/c", "x");
  start_two();
  EXPECT_TRUE(rdzvd(0).wait_for_error("it goes on with 0 records of runs"));
  const auto a = node("true");
  const auto b = node("true");
  EXPECT_EQ(a->finish().code, 0);
  EXPECT_EQ(b->finish().code, 0);
}

// 96 runs of 200 kB, more than etcd sends at once.
TEST_F(TroubleWithState, ManyLargeRecordsAreTakenOver) {
  start_rdzvd();
  auto agent = agent_at(0);
  protocol::Join join = join_of("large", std::string(120, 'n'), 1);
  agent.say(join);
  ASSERT_TRUE(agent.await<protocol::Assignment>());
  std::string record = etcd_->read(prefix_ + "runs/large");
  record.pop_back();  // etcdctl ends it with a newline
  end(0);
  auto decoded = protocol::decode_record(record);
  ASSERT_TRUE(decoded) << decoded.error().text;
  auto run = std::get<protocol::RunRecord>(*decoded);
  run.last_failure = protocol::Cause{.text = "x"};
  run.last_failure->lines = std::vector<std::string>(64, std::string(2'000, 'x'));
  run.round->ended_by = protocol::Restart{.cause = *run.last_failure};
  for (int i = 0; i < 96; ++i) {
    run.terms.run = "run" + std::to_string(i);
    put("runs/" + run.terms.run, protocol::encode(protocol::Record(run)));
  }
  start_again(0);
  EXPECT_TRUE(rdzvd(0).wait_for_error("it goes on with 97 records of runs"));
}

// One of the nodes of a run says more than etcd takes.
TEST_F(TroubleWithState, ARecordThatIsTooLargeDoesNotHoldUpTheOtherRuns) {
  start_rdzvd();
  auto agent = agent_at(0);
  protocol::Join join = join_of("large", "a", 1);
  join.max_restarts = 5;
  agent.say(join);
  ASSERT_TRUE(agent.await<protocol::Assignment>());
  protocol::Failed failed{.round = 0, .rank = 0, .code = 1};
  failed.lines = std::vector<std::string>(64, std::string(2'040, '\x1b'));
  agent.say(failed);
  ASSERT_TRUE(agent.await<protocol::Restart>());
  EXPECT_TRUE(rdzvd(0).wait_for_error("runs/large has "));
  start_rdzvd();
  const auto a = node("true");
  const auto b = node("true");
  EXPECT_EQ(a->finish().code, 0);
  EXPECT_EQ(b->finish().code, 0);
}

TEST_F(TroubleWithState, TheMetricsSayWhoIsTheHead) {
  start_two();
  const auto metrics_of = [&](std::size_t number) {
    return run_shell("exec 3<>/dev/tcp/127.0.0.1/" + ports_[number] +
                     "; printf 'GET /metrics HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3")
        .out;
  };
  EXPECT_THAT(metrics_of(0), HasSubstr("\nrdzv_head 1\n"));
  EXPECT_THAT(metrics_of(1), HasSubstr("\nrdzv_head 0\n"));
  EXPECT_THAT(metrics_of(1), HasSubstr("\nrdzv_head_terms_total 0\n"));
  end(0);
  ASSERT_TRUE(becomes_head(1));
  EXPECT_THAT(metrics_of(1), HasSubstr("\nrdzv_head_terms_total 1\n"));
}

}  // namespace
}  // namespace ddprun::test
