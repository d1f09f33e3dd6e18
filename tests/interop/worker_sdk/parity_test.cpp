// The SDK beside Python's torch.distributed and DistributedDataParallel: the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using std::chrono::seconds;
using testing::ContainsRegex;
using testing::HasSubstr;

const std::string kPython = DDPRUN_INTEROP_PYTHON;
using Command = std::vector<std::string>;

// Each is a training of its own, one after the other, so that Python has to start only once.
const Command kModes = {"plain",   "default_buckets", "find_unused",
                        "no_sync", "bucket_view",     "static_graph",
                        "sparse",  "frozen",          "own_buffers"};

Command with(Command command, const Command& modes) {
  command.insert(command.end(), modes.begin(), modes.end());
  return command;
}
Command python_rank(const Command& modes) {
  return with({kPython, DDPRUN_INTEROP_SCRIPT}, modes);
}
Command sdk_rank(const Command& modes) {
  return with({DDPRUN_INTEROP_TRAIN}, modes);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

using Lines = std::vector<std::string>;

// The first line in which they differ; empty if there is none.
std::string difference(const Lines& some, const Lines& other) {
  for (std::size_t i = 0; i < std::min(some.size(), other.size()); ++i) {
    if (some[i] != other[i]) return some[i] + " | " + other[i];
  }
  if (some.size() == other.size()) return "";
  return "one has " + std::to_string(some.size()) + " lines, the other " +
         std::to_string(other.size());
}

Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

void expect_same(const std::vector<Ended>& ranks, const std::vector<Ended>& others) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(ranks[rank].exit_code, 0) << describe(ranks);
    EXPECT_EQ(others[rank].exit_code, 0) << describe(others);
    EXPECT_EQ(difference(lines_of(ranks[rank].out), lines_of(others[rank].out)), "")
        << "rank " << rank;
    EXPECT_GT(lines_of(others[rank].out).size(), 80u) << describe(others);
  }
}

class Parity : public testing::TestWithParam<std::size_t> {};

TEST_P(Parity, EveryGradientWeightAndBucketIsPythons) {
  const auto python = run_commands(std::vector(GetParam(), python_rank(kModes)));
  expect_same(run_commands(std::vector(GetParam(), sdk_rank(kModes))), python);
  // So that there was something to compare.
  for (const std::string& mode : kModes) {
    EXPECT_THAT(python[0].out, HasSubstr(" " + mode + ": step 4 gradient fc2.bias "));
  }
  EXPECT_THAT(python[0].out, ContainsRegex("plain: rebuilt_bucket_sizes [0-9]+, [0-9]+"));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Parity, testing::Values(1, 2, 3),
                         [](const auto& count) { return std::to_string(count.param); });

// SDK ranks alone, which give the same as Python ranks alone.
std::vector<Ended> two_sdk_ranks() {
  return run_commands(std::vector(2, sdk_rank({"plain"})));
}

TEST(Mixed, PythonAndSdkRanksTrainOneModel) {
  const auto alone = two_sdk_ranks();
  expect_same(run_commands({python_rank({"plain"}), sdk_rank({"plain"})}), alone);
  expect_same(run_commands({sdk_rank({"plain"}), python_rank({"plain"})}), alone);
}

// Without a launcher's store: whoever is rank 0 hosts it.
TEST(Mixed, EitherHostsTheStore) {
  const auto alone = two_sdk_ranks();
  expect_same(run_hosting({python_rank({"plain"}), sdk_rank({"plain"})}), alone);
  expect_same(run_hosting({sdk_rank({"plain"}), python_rank({"plain"})}), alone);
}

TEST(Torchrun, StartsSdkProgramsUnchanged) {
  const auto alone = two_sdk_ranks();
  const Ended ended = Child({kPython, "-m", "torch.distributed.run", "--standalone",
                             "--nproc-per-node", "2", "--no-python", DDPRUN_INTEROP_TRAIN, "plain"},
                            {})
                          .wait(in(seconds(90)));
  EXPECT_EQ(ended.exit_code, 0) << describe({ended});
  EXPECT_EQ(difference(sorted(lines_of(ended.out)), sorted(lines_of(alone[0].out + alone[1].out))),
            "");
}

}  // namespace
}  // namespace ddp::test
