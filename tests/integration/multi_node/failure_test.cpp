// A worker fails, and every node hears of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/base/read_file.h"
#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Rank `failing` fails with `how` when all are there; the others would sleep.
std::string failing(int rank, const std::string& how) {
  return std::string(DDPRUN_TEST_WORKER) +
         " store 1 key >/dev/null; [ $RANK = " + std::to_string(rank) +
         " ] || exec sleep 60; echo the reason >&2; " + how;
}

struct BothEnds {
  Finished first, second;
};

BothEnds run_two(const Words& command, const Words& options = {}) {
  const FixedJob job(2, options);
  const auto second = job.node(1, command, {"-n", "1"});
  const auto first = job.node(0, command, {"-n", "2"});
  return {first->finish(), second->finish()};
}

class FailureTest : public testing::TestWithParam<int> {};

TEST_P(FailureTest, EveryNodeNamesTheSameRankAndEndsWithItsCode) {
  const std::string rank = std::to_string(GetParam());
  const BothEnds ends = run_two(shell(failing(GetParam(), "exit 7")));
  for (const Finished& end : {ends.first, ends.second}) {
    EXPECT_EQ(end.code, 7) << end.err;
    EXPECT_THAT(line_with(end.err, "ddprun: rank"),
                StartsWith("ddprun: rank " + rank + " failed first: exit code 7"));
    EXPECT_THAT(end.err, HasSubstr("    | the reason\n"));
    EXPECT_LT(end.took.count(), 10'000);
  }
}

TEST_P(FailureTest, ASignalIsTheSameEverywhere) {
  const BothEnds ends = run_two(shell(failing(GetParam(), "kill -SEGV $$")));
  for (const Finished& end : {ends.first, ends.second}) {
    EXPECT_EQ(end.code, 139) << end.err;
    EXPECT_THAT(end.err, HasSubstr(" failed first: SIGSEGV (segmentation fault"));
  }
}

INSTANTIATE_TEST_SUITE_P(OnEitherNode, FailureTest, testing::Values(0, 2));

TEST(FailureElsewhereTest, TheReportSaysWhatBecameOfThisNodesWorkers) {
  const BothEnds ends = run_two(shell(failing(2, "exit 7")));
  EXPECT_THAT(ends.first.err, HasSubstr("ranks 0-1 stopped by ddprun (SIGTERM)"));
}

TEST(FailureElsewhereTest, WhoDidNotComeIsNamedOnAllNodes) {
  const std::string error =
      R"({"message": {"message": "gave up", "extraInfo": {"waited_for": [1]}}})";
  const BothEnds ends =
      run_two(shell(failing(2, "echo '" + error + "' > $TORCHELASTIC_ERROR_FILE; exit 3")));
  for (const Finished& end : {ends.first, ends.second})
    EXPECT_THAT(line_with(end.err, "ddprun: rank"),
                StartsWith("ddprun: rank 1 did not take part; rank 2, which waited for it, failed "
                           "first: exit code 3"));
}

TEST(FailureElsewhereTest, WhoHangsIsNamedOnAllNodes) {
  const BothEnds ends = run_two(shell(failing(2,
                                              "echo > /dev/fd/$DDPRUN_PROGRESS_FD; "
                                              "exec sleep 60")),
                                {"--progress-timeout", "0.5"});
  for (const Finished& end : {ends.first, ends.second})
    EXPECT_THAT(line_with(end.err, "ddprun: rank"),
                StartsWith("ddprun: rank 2 failed first: no progress for 0.5 s "
                           "(--progress-timeout)"));
}

TEST(FailureElsewhereTest, AProgramThatCannotBeExecutedSpendsNoRestart) {
  const FixedJob job(2, {"--max-restarts", "3"});
  const TemporaryFolder folder;
  const std::string program = folder / "program";
  ASSERT_EQ(run_shell("echo '#!/no/such/interpreter' > " + program + "; chmod +x " + program).code,
            0);
  const auto second = job.node(1, {program});
  const Finished first = job.node(0, shell("exec sleep 60"))->finish();
  const Finished other = second->finish();
  for (const Finished& end : {first, other}) {
    EXPECT_EQ(end.code, 126) << end.err;
    EXPECT_THAT(end.err, HasSubstr("/program"));
    EXPECT_THAT(end.err, Not(HasSubstr("restart 1 of 3")));
  }
}

TEST(FailureElsewhereTest, ATimeLimitEndsAllNodesWithTheSameCode) {
  for (const int node : {0, 1}) {
    const FixedJob job(2, {"--max-restarts", "3"});
    const Words command = shell("exec sleep 60");
    const Words limit{"--timeout", "1"};
    const auto first = job.node(0, command, node == 0 ? limit : Words{});
    const auto second = job.node(1, command, node == 1 ? limit : Words{});
    for (const auto& each : {first.get(), second.get()}) {
      const Finished end = each->finish();
      EXPECT_EQ(end.code, 124) << end.err;
      EXPECT_THAT(end.err, HasSubstr("--timeout"));
    }
  }
}

TEST(FailureElsewhereTest, TheJsonReportNamesTheRankAndItsHost) {
  const TemporaryFolder folder;
  const FixedJob job(2);
  const auto command = shell(failing(1, "exit 7"));
  const auto second = job.node(1, command);
  const Finished first = job.node(0, command, {"--report", folder / "report.json"})->finish();
  EXPECT_EQ(first.code, 7);
  EXPECT_EQ(second->finish().code, 7);
  const std::string report = read_file(folder / "report.json").value_or("");
  EXPECT_THAT(report, HasSubstr("\"cause\": \"worker_failed\""));
  EXPECT_THAT(report, HasSubstr("\"root_cause\": {\"rank\":1,"));
  EXPECT_THAT(report, HasSubstr("the reason"));
}

TEST(FailureElsewhereTest, NothingIsLeftInTheTemporaryFolderOfASuccess) {
  const TemporaryFolder folder;
  const FixedJob job(2);
  const Words command = shell("echo x > $TORCHELASTIC_ERROR_FILE");
  const auto with_folder = [&](int rank) {
    return start({"--nnodes", "2", "--node-rank", std::to_string(rank), "--master-addr",
                  "127.0.0.1", "--master-port", job.port()},
                 command, {.environment = {"TMPDIR=" + folder.path()}, .input = {}});
  };
  const auto second = with_folder(1);
  EXPECT_EQ(with_folder(0)->finish().code, 0);
  EXPECT_EQ(second->finish().code, 0);
  EXPECT_EQ(run_shell("find " + folder.path() + " -mindepth 2 | wc -l").out, "0\n");
}

}  // namespace
}  // namespace ddprun::test
