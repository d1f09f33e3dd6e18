// Facts about the machine the tests run on, as far as every machine has them.
#include "launcher/doctor/look.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cerrno>

namespace ddprun::doctor {
namespace {

using Words = std::vector<std::string>;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(LookTest, FindsWhatEveryMachineHas) {
  const Facts facts =
      look({}, cli::Environment(Words{"PATH=/nowhere", "TMPDIR=/proc", "SLURM_JOB_ID=7",
                                      "CUDA_VISIBLE_DEVICES=1", "NCCL_DEBUG=INFO", "HOME=/root"}));
  EXPECT_THAT(facts.kernel, HasSubstr("Linux "));
  EXPECT_THAT(facts.libc, HasSubstr("glibc 2."));
  EXPECT_THAT(facts.time, testing::MatchesRegex("2...-..-..T..:..:..Z"));
  EXPECT_THAT(facts.affinity_cpus, Ge(1));
  EXPECT_THAT(facts.memory, Ge(1ULL << 20));
  EXPECT_THAT(facts.memory_available.value_or(0),
              testing::AllOf(Ge(1ULL), testing::Le(facts.memory)));
  EXPECT_FALSE(facts.gpus_timed_out);
  EXPECT_THAT(facts.host.name, Not(IsEmpty()));
  EXPECT_FALSE(facts.endpoint.has_value());
  EXPECT_EQ(facts.loopback_failure, "");
  EXPECT_THAT(facts.open_files_hard, Ge(facts.open_files_soft));
  EXPECT_TRUE(facts.shared_memory.writable);
  EXPECT_THAT(facts.shared_memory.free_bytes.value_or(0), Ge(1ULL));
  EXPECT_EQ(facts.temporary.path, "/proc");
  EXPECT_EQ(facts.python, "");
  EXPECT_FALSE(facts.torch.timed_out);
  EXPECT_EQ(facts.stack_tool, "");
  EXPECT_THAT(facts.scheduler, Contains("SLURM_JOB_ID=7"));
  EXPECT_THAT(facts.environment, testing::ElementsAre("NCCL_DEBUG=INFO"));
  EXPECT_EQ(facts.visible.list_text, "1");
  EXPECT_THAT(facts.ports, testing::SizeIs(2));
}

TEST(LookTest, PatienceIsForEverythingTogetherAndNoChildIsLeft) {
  const Facts facts = look({}, cli::Environment(Words{}), std::chrono::milliseconds(0));
  EXPECT_TRUE(facts.host.timed_out);
  EXPECT_TRUE(facts.gpus_timed_out);
  EXPECT_TRUE(facts.torch.timed_out);
  EXPECT_TRUE(facts.shared_memory.timed_out);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(LookTest, TheEndpointOfSeveralNodesIsAskedFor) {
  cli::JobSpec job;
  job.rendezvous.kind = cli::RendezvousSpec::Kind::fixed;
  job.rendezvous.endpoint.value = {.host = "127.0.0.1", .port = 1};
  const Facts facts = look(job, cli::Environment(Words{}));
  ASSERT_TRUE(facts.endpoint.has_value());
  EXPECT_THAT(facts.endpoint->host.addresses, testing::ElementsAre("127.0.0.1"));
  EXPECT_EQ(facts.endpoint->failure, "Connection refused");
  EXPECT_THAT(facts.ports, testing::SizeIs(3));
}

}  // namespace
}  // namespace ddprun::doctor
