// What the other ranks say when one has failed, and what is said to arguments that cannot work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kDdpError = 3;

std::string own_text(std::size_t rank) {
  return "[rank " + std::to_string(rank) + "] ";
}

struct Fault {
  const char* scenario;
  const char* said;  // by rank 1
};
void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.scenario;
}

class ThrowingRankTest : public testing::TestWithParam<Fault> {};

TEST_P(ThrowingRankTest, IsNamedByTheOthersWithItsReason) {
  const auto ranks = run_ranks(3, GetParam().scenario);
  EXPECT_EQ(ranks[1].exit_code, 1) << describe(ranks);
  EXPECT_THAT(ranks[1].err, HasSubstr(GetParam().said));
  for (const std::size_t rank : {0u, 2u}) {
    EXPECT_EQ(ranks[rank].exit_code, 1) << describe(ranks);
    EXPECT_THAT(ranks[rank].err, HasSubstr(own_text(rank) + "all_reduce failed: "));
    EXPECT_THAT(ranks[rank].err, HasSubstr("The first one: rank 1 ended with "));
    EXPECT_THAT(ranks[rank].err, HasSubstr(GetParam().said));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ThrowingRankTest,
                         testing::Values(Fault{"throw_in_forward", "my forward is broken"},
                                         Fault{"throw_in_backward", "my backward is broken"},
                                         Fault{"throw_in_loader", "my file is broken"},
                                         Fault{"throw_in_sampler", "my sampler is broken"}),
                         [](const auto& chosen) { return std::string(chosen.param.scenario); });

std::string scenario_name(const testing::TestParamInfo<const char*>& chosen) {
  return chosen.param;
}

// Four ranks, so that one of them is no neighbour of the killed one and only loses a neighbour.
void expect_named_by_all_others(const std::vector<Ended>& ranks) {
  EXPECT_EQ(ranks[1].signal, SIGKILL);
  for (const std::size_t rank : {0u, 2u, 3u}) {
    EXPECT_EQ(ranks[rank].exit_code, 1) << describe(ranks);
    EXPECT_THAT(ranks[rank].err, AnyOf(HasSubstr("Rank 1 has ended or lost its connection"),
                                       HasSubstr("The first one: rank 1 was lost")));
  }
}

class KilledRankTest : public testing::TestWithParam<const char*> {};

TEST_P(KilledRankTest, IsNamedByAllOthers) {
  expect_named_by_all_others(run_ranks(4, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Each, KilledRankTest,
                         testing::Values("killed_in_training", "killed_in_forward",
                                         "killed_in_backward", "killed_in_sampler"),
                         scenario_name);

std::vector<Ended> run_with_a_slow_loop_of_rank_2() {
  const StoreHost store;
  std::vector<Child> children;
  for (int rank = 0; rank < 4; ++rank) {
    Environment environment = rank_environment(rank, 4, store.port());
    if (rank == 2) environment["LD_PRELOAD"] = DDPRUN_SLOW_LOOP;
    children.emplace_back(
        std::vector<std::string>{DDPRUN_TEST_WORKER, "killed_before_rank_2_sends"}, environment);
  }
  const auto end = in(std::chrono::seconds(60));
  std::vector<Ended> ranks;
  for (Child& child : children) ranks.push_back(child.wait(end));
  return ranks;
}

// Gloo never says so, and its limit is half an hour.
TEST(KilledRank, IsNamedByOneThatSentToItBeforeSeeingItsEnd) {
  std::vector<Ended> ranks;
  for (int tries = 0; tries < 5; ++tries) {  // rank 1 may end before rank 2 knows that it is ready
    ranks = run_with_a_slow_loop_of_rank_2();
    if (ranks[2].err.find("stand-in: sent in vain") != std::string::npos) break;
  }
  EXPECT_THAT(ranks[2].err, HasSubstr("stand-in: sent in vain, and seen after that"));
  expect_named_by_all_others(ranks);
}

// Of "failed after 3.0 at 77.0", in seconds.
double number_after(const std::string& word, const std::string& text) {
  const auto found = text.find(word + " ");
  return found == text.npos ? -1 : std::stod(text.substr(found + word.size() + 1));
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Room for a busy machine, and far from the limits of what could hang.
constexpr double kSlack = 15;

class HungRankTest : public testing::TestWithParam<const char*> {};

TEST_P(HungRankTest, IsNamedInTimeByThoseWhoWaitedInVain) {
  std::vector<Child> children;
  const StoreHost store;
  for (int rank = 0; rank < 3; ++rank) {
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, GetParam()},
                          rank_environment(rank, 3, store.port()));
  }
  for (const std::size_t rank : {0u, 2u}) {
    const Ended ended = children[rank].wait(in(std::chrono::seconds(90)));
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    // The second bucket's operation may be the one whose error comes out.
    EXPECT_THAT(ended.err, AnyOf(HasSubstr(own_text(rank) + "all_reduce failed: Timed out waiting "
                                                            "3000ms"),
                                 HasSubstr(own_text(rank) + "all_reduce failed: an operation of "
                                                            "the group timed out")));
    EXPECT_THAT(ended.err, HasSubstr("Rank 1 does not take part: it hangs, "));
    EXPECT_NEAR(number_after("after", ended.out), 3 + kSlack / 2, kSlack / 2) << ended.out;
    EXPECT_LT(now() - number_after("at", ended.out), kSlack) << "no hang at exit";
  }
}

INSTANTIATE_TEST_SUITE_P(Each, HungRankTest,
                         testing::Values("hung_in_training", "hung_in_forward", "hung_in_backward",
                                         "hung_in_sampler"),
                         scenario_name);

// A machine that is gone does not close its connections.
TEST(SilentStore, HoldsUpNobodyWhoWantsToExplainAFailure) {
  std::vector<Child> children;
  StoreHost store;
  for (int rank = 0; rank < 3; ++rank) {
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "hung_in_training"},
                          rank_environment(rank, 3, store.port()));
  }
  for (const char* rank : {"0", "1", "2"}) {
    store.wait_for(std::string("default_pg/0//1//ddp/sockets/") + rank);
  }
  store.freeze();
  for (const std::size_t rank : {0u, 2u}) {
    const Ended ended = children[rank].wait(in(std::chrono::seconds(60)));
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("all_reduce failed: "));
    EXPECT_NEAR(number_after("after", ended.out), 3 + kSlack / 2, kSlack / 2) << ended.out;
  }
}

TEST(Record, EndsARankWhoseOperationsGoOn) {
  const StoreHost store;
  std::vector<Child> children;
  for (int rank = 0; rank < 2; ++rank) {
    children.emplace_back(
        std::vector<std::string>{DDPRUN_TEST_WORKER, "throw_with_a_sum_under_way"},
        rank_environment(rank, 2, store.port()));
  }
  const Ended ended = children[1].wait(in(std::chrono::seconds(60)));
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("my step is broken"));
}

TEST(HungRank, IsNotTakenForOneThatHasSentItsPart) {
  std::vector<Child> children;
  const StoreHost store;
  for (int rank = 0; rank < 3; ++rank) {
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "gather_in_vain"},
                          rank_environment(rank, 3, store.port()));
  }
  const Ended ended = children[0].wait(in(std::chrono::seconds(60)));
  EXPECT_EQ(ended.exit_code, kDdpError) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("[rank 0] gather failed: Timed out waiting 3000ms"));
  EXPECT_THAT(ended.err, HasSubstr("One of the ranks 1, 2 does not take part: it hangs"));
}

TEST(HungRank, LeavesAGroupThatSaysItIsOfNoUse) {
  const StoreHost store;
  std::vector<Child> children;
  for (int rank = 0; rank < 2; ++rank) {
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "call_after_a_time_out"},
                          rank_environment(rank, 2, store.port()));
  }
  const Ended ended = children[0].wait(in(std::chrono::seconds(60)));
  EXPECT_EQ(ended.exit_code, kDdpError) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("[rank 0] all_reduce failed: an operation of the group timed out, so that "
                        "Gloo closed its connections and the group is of no use any more. Rank 1 "
                        "does not take part: it hangs"));
}

TEST(Loader, DealsEverySampleOnceThroughWorkerThreads) {
  const auto ranks = run_ranks(2, "loader_epochs");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_EQ(each.out, "23 of 24\n23 of 24\n23 of 24\n22 of 22\n22 of 22\n22 of 22\norders: 6\n");
  }
}

TEST(BadInput, OfASamplerIsRefused) {
  const auto ranks = run_ranks(1, "bad_samplers");
  EXPECT_EQ(ranks[0].exit_code, 0) << describe(ranks);
  for (const char* text :
       {"DistributedSampler: num_replicas was not given and there is no process group",
        "[rank 0] DistributedSampler: the data set is empty. Was it read from the right place?",
        "num_replicas is 0, expected 1 or more", "rank is 2", "rank is -1",
        "batch size is 0, expected 1 or more"}) {
    EXPECT_THAT(ranks[0].out, HasSubstr(text));
  }
  EXPECT_THAT(ranks[0].out, Not(HasSubstr("not refused")));
}

TEST(BadInput, OfDistributedDataParallelIsRefused) {
  const auto ranks = run_ranks(2, "bad_modules");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_THAT(each.out, HasSubstr("DistributedDataParallel: the module lies on two kinds of "
                                    "devices: here on cpu, elsewhere on meta\n"));
    EXPECT_THAT(each.out, HasSubstr("DistributedDataParallel: there is no module"));
    EXPECT_THAT(each.out, HasSubstr("DistributedDataParallel: weight is on meta, but backend gloo "
                                    "serves the CPU only\n"));
    EXPECT_THAT(each.out, Not(HasSubstr("not refused")));
  }
}

TEST(BadInput, OfTheEnvironmentIsOneError) {
  const struct {
    const char *name, *value, *says;
  } cases[] = {
      {"WORLD_SIZE", "0", "WORLD_SIZE=0 is not a number of ranks"},
      {"RANK", "2", "rank 2 does not exist in a world of 2 (0 to 1)"},
      {"MASTER_PORT", "70000", "MASTER_PORT=70000 is not a port (1 to 65535)"},
      {"TORCH_DISTRIBUTED_DEBUG", "LOUD", "TORCH_DISTRIBUTED_DEBUG=LOUD"},
      {"TORCH_DIST_INIT_BARRIER", "yes", "TORCH_DIST_INIT_BARRIER=yes is not a number"},
  };
  for (const auto& each : cases) {
    Environment environment = rank_environment(0, 2, 29500);
    environment[each.name] = each.value;
    const Ended ended =
        Child({DDPRUN_TEST_WORKER, "patient"}, environment).wait(in(std::chrono::seconds(30)));
    EXPECT_EQ(ended.exit_code, kDdpError) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(each.says));
  }
}

}  // namespace
}  // namespace ddp::test
