// Facts about the machine the tests run on, as far as every machine has them.
#include "launcher/doctor/look.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cerrno>

namespace ddprun::doctor {
namespace {

using Words = std::vector<std::string>;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ResolveTest, NumbersAreTheirOwnAddresses) {
  const HostName host = resolve("127.0.0.1", kNamePatience);
  EXPECT_THAT(host.addresses, ElementsAre("127.0.0.1"));
  EXPECT_FALSE(host.timed_out);
}

TEST(ResolveTest, ANameThatIsNoneHasAReason) {
  const HostName host = resolve("not a name", kNamePatience);
  EXPECT_THAT(host.addresses, IsEmpty());
  EXPECT_TRUE(host.timed_out || !host.failure.empty());
}

TEST(ResolveTest, PatienceEndsAndNoChildIsLeft) {
  EXPECT_TRUE(resolve("127.0.0.1", std::chrono::milliseconds(0)).timed_out);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(LookTest, FindsWhatEveryMachineHas) {
  const Facts facts = look(cli::Environment(
      Words{"PATH=/nowhere", "TMPDIR=/proc", "SLURM_JOB_ID=7", "CUDA_VISIBLE_DEVICES=1"}));
  EXPECT_THAT(facts.kernel, HasSubstr("Linux "));
  EXPECT_THAT(facts.affinity_cpus, Ge(1));
  EXPECT_THAT(facts.memory, Ge(1ULL << 20));
  EXPECT_THAT(facts.host.name, Not(IsEmpty()));
  EXPECT_EQ(facts.loopback_failure, "");
  EXPECT_THAT(facts.open_files_hard, Ge(facts.open_files_soft));
  EXPECT_EQ(facts.temporary.path, "/proc");
  EXPECT_EQ(facts.python, "");
  EXPECT_THAT(facts.scheduler, Contains("SLURM_JOB_ID=7"));
  EXPECT_EQ(facts.visible.list_text, "1");
}

}  // namespace
}  // namespace ddprun::doctor
