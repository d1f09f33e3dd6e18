// A node that cannot start its workers comes to the others and says so, for they would wait for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <signal.h>

#include "rendezvous/base/read_file.h"
#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Words kFine = shell("exec sleep 60");

struct Unable {
  Words command;
  Words options;
  int code;
  const char* why;
};

class UnableTest : public testing::TestWithParam<int> {
 protected:
  void expect_both_to_say(const Unable& unable) const {
    const FixedJob job(2, {"--max-restarts", "3"});
    const bool first = GetParam() == 0;
    const auto one = job.node(GetParam(), unable.command, unable.options);
    const auto other = job.node(first ? 1 : 0, kFine);
    for (const auto& each : {one.get(), other.get()}) {
      const Finished end = each->finish();
      EXPECT_FALSE(end.timed_out);
      EXPECT_EQ(end.code, unable.code) << end.err;
      EXPECT_THAT(end.err, HasSubstr(unable.why));
      EXPECT_THAT(end.err, AllOf(Not(HasSubstr("restart 1 of 3")),
                                 Not(HasSubstr("checksums:  on"))));  // of no file
    }
  }
};

INSTANTIATE_TEST_SUITE_P(OnEitherNode, UnableTest, testing::Values(0, 1));

TEST_P(UnableTest, AMissingProgramEndsAllNodes) {
  expect_both_to_say({{"/no/such/train"}, {}, 127, "cannot start '/no/such/train': no such file"});
}

TEST_P(UnableTest, AProgramThatIsNotExecutableEndsAllNodes) {
  expect_both_to_say({{"/etc/passwd"}, {}, 126, "cannot start '/etc/passwd': "});
}

TEST_P(UnableTest, TooFewGpusEndAllNodes) {
  expect_both_to_say({kFine, {"--simulate-gpus", "1", "-n", "2"}, 2, "2 workers"});
}

TEST_P(UnableTest, MoreWorkersThanANodeMayHaveEndAllNodes) {
  expect_both_to_say({kFine, {"-n", "5000"}, 2, "has at most 4096 workers on each, not 5000"});
}

// It has no plan, so the number is what the user has said.
TEST_P(UnableTest, TooFewGpusForVeryManyWorkersEndAllNodes) {
  expect_both_to_say({kFine, {"--simulate-gpus", "1", "-n", "5000"}, 2, "5000 workers"});
}

constexpr const char* kNoHost = "no-such-host.invalid";

// Without a name server a resolver does not know.
bool is_known_to_be_none(const char* host) {
  addrinfo* found = nullptr;
  return ::getaddrinfo(host, nullptr, nullptr, &found) == EAI_NONAME;
}

TEST_P(UnableTest, AnAddressOfItsOwnThatNobodyKnowsEndsAllNodes) {
  if (!is_known_to_be_none(kNoHost))
    GTEST_SKIP() << "no resolver says that there is no " << kNoHost;
  expect_both_to_say({kFine,
                      {"--local-addr", kNoHost},
                      2,
                      "--local-addr: 'no-such-host.invalid' cannot be looked up: "});
}

TEST(UnableNodeTest, WhoIsNotNeededIsRefusedForItsAddressAtOnce) {
  if (!is_known_to_be_none(kNoHost))
    GTEST_SKIP() << "no resolver says that there is no " << kNoHost;
  const ArrivalJob job("1:2");
  const Finished end = job.node(kFine, {"--local-addr", kNoHost})->finish();
  EXPECT_EQ(end.code, 2) << end.err;
  EXPECT_THAT(end.err, HasSubstr("'no-such-host.invalid' cannot be looked up"));
}

TEST_P(UnableTest, AFolderThatIsNotThereEndsAllNodes) {
  expect_both_to_say({kFine, {"--chdir", "/no/such/folder"}, 2, "--chdir '/no/such/folder'"});
}

TEST(UnableNodeTest, ItSaysSoWhileItIsAlone) {
  const TemporaryFolder folder;
  const std::string report = folder / "report.json";
  const FixedJob job(2);
  const auto alone = job.node(0, {"/no/such/train"}, {"--report", report});
  ASSERT_TRUE(alone->wait_for_error(
      "cannot start '/no/such/train': no such file or directory; the other nodes are told"));
  const auto other = job.node(1, kFine);
  EXPECT_EQ(alone->finish().code, 127);
  EXPECT_EQ(other->finish().code, 127);
  EXPECT_THAT(read_file(report).value_or(""), HasSubstr("\"cause\": \"exec_failed\""));
}

TEST(UnableNodeTest, ItKeepsItsReasonWhenNobodyComes) {
  for (const char* rank : {"0", "1"}) {
    const FixedJob job(2);
    const Finished end =
        job.node(std::stoi(rank), {"/no/such/train"}, {"--rdzv-conf", "join_timeout=2"})->finish();
    EXPECT_EQ(end.code, 127) << end.err;
    EXPECT_THAT(lines(end.err).back(), AllOf(HasSubstr("cannot start '/no/such/train'"),
                                             HasSubstr("the others could not be told: ")));
  }
}

TEST(UnableNodeTest, ASignalEndsItAtOnce) {
  const FixedJob job(2);
  const auto alone = job.node(0, {"/no/such/train"});
  ASSERT_TRUE(alone->wait_for_error("the other nodes are told"));
  ::kill(alone->pid(), SIGINT);
  EXPECT_EQ(alone->finish().signal, SIGINT);
}

// A job that can do without it is not disturbed.
TEST(UnableNodeTest, WhereFewerNodesAreEnoughItEndsAlone) {
  const ArrivalJob job("1:2", {"--rdzv-conf", "last_call_timeout=0"});
  const auto at_work = job.node(shell("echo started; exec sleep 60"));
  ASSERT_TRUE(at_work->wait_for_output("started"));
  const Finished end = job.node({"/no/such/train"})->finish();
  EXPECT_EQ(end.code, 127) << end.err;
  EXPECT_THAT(end.err, Not(HasSubstr("the other")));
  EXPECT_EQ(::kill(at_work->pid(), SIGTERM), 0);
  const Finished other = at_work->finish();
  EXPECT_EQ(other.signal, SIGTERM);
  EXPECT_EQ(count_of("started", other.out), 1);
}

// In the place of a lost node it would end the job that a better spare could go on with.
TEST(UnableNodeTest, ASpareEndsAlone) {
  const ArrivalJob job("2", {"--max-restarts", "3", "--rdzv-conf", "last_call_timeout=0"});
  const auto first = job.node(shell("echo started; exec sleep 60"));
  const auto second = job.node(shell("echo started; exec sleep 60"));
  ASSERT_TRUE(first->wait_for_output("started"));
  ASSERT_TRUE(second->wait_for_output("started"));
  const Finished end = job.node({"/no/such/train"})->finish();
  EXPECT_EQ(end.code, 127) << end.err;
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(::kill(first->pid(), 0), 0);
  EXPECT_EQ(::kill(second->pid(), 0), 0);
}

}  // namespace
}  // namespace ddprun::test
