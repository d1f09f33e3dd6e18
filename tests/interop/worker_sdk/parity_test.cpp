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

// Each is a training of its own, one after the other, so that Python has to start only once. The
// words are those of train.py.
const Command kUsualCases = {
    // Models and options.
    "conv", "conv+default_buckets", "conv+find_unused", "conv+no_sync", "conv+bucket_view",
    "conv+static_graph", "conv+sparse", "conv+frozen", "conv+own_buffers", "conv+no_init_sync",
    "conv+find_unused+bucket_view", "conv+bucket_view+no_sync", "mlp", "mlp+find_unused+no_sync",
    "mlp+find_unused+default_buckets", "bag", "bag+sparse", "bag+sparse+no_sync",
    "outputs+find_unused_anyway", "tied", "tied+static_graph", "types", "types+bucket_view",
    // Optimizers.
    "conv+adam", "conv+adamw", "conv+rmsprop", "conv+adagrad", "mlp+no_sync+adam",
    "mlp+static_graph+adamw", "types+adam",
    // Communication hooks.
    "conv+allreduce_hook", "conv+fp16_hook", "conv+bf16_hook", "conv+own_hook", "mlp+fp16_wrapper",
    "mlp+fp16_builtin", "mlp+own_hook+no_sync", "bag+sparse+allreduce_hook",
    "mlp+fp16_hook+bucket_view+adam", "conv+find_unused+own_hook", "mlp+static_graph+bf16_hook",
    // Uneven inputs, and one step with even ones afterwards.
    "conv+join_initial", "conv+join_effective", "conv+join_initial+own_buffers",
    "conv+join_effective+find_unused", "conv+join_initial+bucket_view",
    "mlp+join_initial+no_sync+adam", "mlp+join_effective+no_sync",
    "mlp+join_effective+static_graph", "mlp+join_initial+fp16_hook", "mlp+join_initial+own_hook",
    "types+join_effective+adamw", "outputs+join_initial+find_unused_anyway"};

// And those that this version has.
Command all_cases() {
  Command cases = kUsualCases;
  std::istringstream newer(DDPRUN_INTEROP_NEWER_CASES);
  for (std::string each; newer >> each;) cases.push_back(each);
  return cases;
}

Command with(Command command, const Command& cases) {
  command.insert(command.end(), cases.begin(), cases.end());
  return command;
}
Command python_rank(const Command& cases) {
  return with({kPython, DDPRUN_INTEROP_SCRIPT}, cases);
}
Command sdk_rank(const Command& cases) {
  return with({DDPRUN_INTEROP_TRAIN}, cases);
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
    EXPECT_GT(lines_of(others[rank].out).size(), 60u) << describe(others);
  }
}

class Parity : public testing::TestWithParam<std::size_t> {};

TEST_P(Parity, EveryGradientWeightAndBucketIsPythons) {
  const Command cases = all_cases();
  const auto run = [](const Command& rank) {
    return run_commands(std::vector(GetParam(), rank), {}, seconds(150));
  };
  const auto python = run(python_rank(cases));
  expect_same(run(sdk_rank(cases)), python);
  // So that there was something to compare.
  for (const std::string& name : cases) {
    EXPECT_THAT(python[0].out, HasSubstr(" " + name + ": step 9 gradient fc2.bias "));
    EXPECT_THAT(python[0].out, HasSubstr(" " + name + ": logged names "));
  }
  EXPECT_THAT(python[0].out, ContainsRegex("conv: logged rebuilt_bucket_sizes [0-9]+, [0-9]+"));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Parity, testing::Values(1, 2, 3),
                         [](const auto& count) { return std::to_string(count.param); });

// SDK ranks alone, which give the same as Python ranks alone.
std::vector<Ended> two_sdk_ranks() {
  return run_commands(std::vector(2, sdk_rank({"mlp"})));
}

// What the ranks send each other besides gradients has to be the same in both languages.
TEST(Mixed, PythonAndSdkRanksTrainOneModel) {
  const Command cases = {"conv",
                         "conv+find_unused+no_sync",
                         "conv+static_graph",
                         "mlp+fp16_hook",
                         "conv+join_initial",
                         "conv+join_effective+find_unused",
                         "mlp+join_effective+no_sync+adam",
                         "mlp+join_initial+own_hook"};
  const auto alone = run_commands(std::vector(2, sdk_rank(cases)));
  expect_same(run_commands({python_rank(cases), sdk_rank(cases)}), alone);
  expect_same(run_commands({sdk_rank(cases), python_rank(cases)}), alone);
}

// Without a launcher's store: whoever is rank 0 hosts it.
TEST(Mixed, EitherHostsTheStore) {
  const auto alone = two_sdk_ranks();
  expect_same(run_hosting({python_rank({"mlp"}), sdk_rank({"mlp"})}), alone);
  expect_same(run_hosting({sdk_rank({"mlp"}), python_rank({"mlp"})}), alone);
}

TEST(Torchrun, StartsSdkProgramsUnchanged) {
  const auto alone = two_sdk_ranks();
  const Ended ended = Child({kPython, "-m", "torch.distributed.run", "--standalone",
                             "--nproc-per-node", "2", "--no-python", DDPRUN_INTEROP_TRAIN, "mlp"},
                            {})
                          .wait(in(seconds(90)));
  EXPECT_EQ(ended.exit_code, 0) << describe({ended});
  EXPECT_EQ(difference(sorted(lines_of(ended.out)), sorted(lines_of(alone[0].out + alone[1].out))),
            "");
}

}  // namespace
}  // namespace ddp::test
