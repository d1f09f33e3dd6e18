// Defaults of options in environment variables.
#include <gmock/gmock.h>

#include "tests/unit/cli/parsing.h"

namespace ddprun::cli {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Variables, AreDefaultsOfOptions) {
  const JobSpec job =
      job_of({"p"}, {"PET_NPROC_PER_NODE=4", "PET_MASTER_PORT=4000", "PET_SIMULATE_GPUS=8",
                     "PET_ROLE=trainer", "PET_DEVICE=cuda", "PET_PASS_LOCAL_RANK=1"});
  EXPECT_EQ(job.workers.number, 4);
  EXPECT_EQ(job.master_port, 4000);
  EXPECT_EQ(job.simulated_gpus, 8);
  EXPECT_EQ(job.role, "trainer");
  EXPECT_EQ(job.device, DeviceChoice::cuda);
  EXPECT_EQ(job.local_rank_argument, LocalRankArgument::dash);
}

TEST(Variables, CommandLineWinsAndTheVariableIsNotValidated) {
  EXPECT_EQ(job_of({"-n", "2", "p"}, {"PET_NPROC_PER_NODE=x"}).workers.number, 2);
  EXPECT_EQ(job_of({"-q", "p"}, {"PET_VERBOSE=1"}).verbosity, Verbosity::quiet);
  EXPECT_EQ(job_of({"-v", "p"}, {"PET_QUIET=1"}).verbosity, Verbosity::verbose);
}

TEST(Variables, BooleansAreFourWords) {
  for (const char* on : {"1", "true"}) {
    EXPECT_TRUE(job_of({"p"}, {std::string("PET_STANDALONE=") + on}).standalone);
    EXPECT_TRUE(job_of({"p"}, {std::string("PET_MODULE=") + on}).module);
    EXPECT_TRUE(job_of({"p"}, {std::string("PET_OVERSUBSCRIBE=") + on}).oversubscribe);
  }
  for (const char* off : {"0", "false"})
    EXPECT_FALSE(job_of({"p"}, {std::string("PET_STANDALONE=") + off}).standalone);
  EXPECT_EQ(error_of({"p"}, {"PET_STANDALONE=yes"}),
            "ddprun: PET_STANDALONE: 'yes' is not one of 0, 1, true and false");
  EXPECT_EQ(error_of({"p"}, {"PET_NO_PYTHON="}),
            "ddprun: PET_NO_PYTHON: the value is empty; write 0 or 1");
}

TEST(Variables, ErrorsNameTheVariable) {
  EXPECT_THAT(error_of({"p"}, {"PET_NPROC_PER_NODE=0"}),
              HasSubstr("ddprun: PET_NPROC_PER_NODE: '0' is"));
  EXPECT_THAT(error_of({"p"}, {"PET_MASTER_PORT="}),
              HasSubstr("PET_MASTER_PORT: the value is empty"));
  EXPECT_THAT(error_of({"p"}, {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT=x"}),
              HasSubstr("ddprun: TORCH_ELASTIC_SHUTDOWN_TIMEOUT: 'x' is not a time"));
  EXPECT_THAT(error_of({"p"}, {"PET_TEE=4"}),
              HasSubstr("ddprun: PET_TEE: '4' does not say which streams"));
  EXPECT_THAT(error_of({"p"}, {"PET_HOSTS=a", "PET_HOSTFILE=f"}),
              HasSubstr("PET_HOSTS=a and PET_HOSTFILE=f: drop one of them"));
  EXPECT_EQ(error_of({"p"}, {"PET_NNODES=x"}),
            "ddprun: PET_NNODES: 'x' is not a number of nodes; write N, or MIN:MAX with 1 <= MIN "
            "<= MAX");
}

TEST(Variables, ThoseThatAskForOneNodeAreTaken) {
  const JobSpec job = job_of({"p"}, {"PET_NNODES=1", "PET_NODE_RANK=0", "PET_MAX_RESTARTS=0",
                                     "PET_VIRTUAL_LOCAL_RANK=0", "PET_MASTER_ADDR=localhost"});
  EXPECT_EQ(job.master_addr, "localhost");
  EXPECT_TRUE(job.notices.empty());
}

TEST(Variables, MeaninglessOnesAreNamedByTheVariable) {
  EXPECT_THAT(job_of({"--standalone", "p"}, {"PET_MASTER_PORT=x"}).notices,
              ElementsAre("PET_MASTER_PORT: meaningless with --standalone, ignored"));
  EXPECT_THAT(job_of({"--device=cpu", "p"}, {"PET_OVERSUBSCRIBE=0"}).notices, ElementsAre());
}

TEST(Variables, ShutdownTimeoutHasThreeSources) {
  const Words both{"TORCH_ELASTIC_SHUTDOWN_TIMEOUT=5", "PET_SHUTDOWN_TIMEOUT=6"};
  EXPECT_EQ(job_of({"p"}, {both[0]}).shutdown_timeout, milliseconds(5000));
  EXPECT_EQ(job_of({"p"}, both).shutdown_timeout, milliseconds(6000));
  EXPECT_EQ(job_of({"--shutdown-timeout=7", "p"}, both).shutdown_timeout, milliseconds(7000));
}

TEST(Variables, UnknownOnesAreSaid) {
  EXPECT_THAT(job_of({"p"}, {"PET_NPROC_PER_NOD=4"}).notices,
              ElementsAre("PET_NPROC_PER_NOD: no option has this variable, ignored; did you mean "
                          "PET_NPROC_PER_NODE?"));
  EXPECT_THAT(job_of({"p"}, {"PET_QQQQQQ=4"}).notices,
              ElementsAre("PET_QQQQQQ: no option has this variable, ignored"));
}

TEST(Variables, ThePrefixHasThreeSources) {
  const Words both{"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE=a ${rank}",
                   "PET_LOG_LINE_PREFIX_TEMPLATE=b"};
  EXPECT_EQ(job_of({"p"}, {both[0]}).prefix, "a ${rank}");
  EXPECT_EQ(job_of({"p"}, both).prefix, "b");
  EXPECT_EQ(job_of({"--prefix=c", "p"}, both).prefix, "c");
  EXPECT_EQ(job_of({"p"}, {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE="}).prefix, std::nullopt);
}

TEST(Variables, TorchrunsTemplateMayHaveFieldsThatNobodyKnows) {
  const JobSpec job = job_of({"p"}, {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE=${rnk}"});
  EXPECT_EQ(job.prefix, "${rnk}");
  EXPECT_THAT(job.notices,
              ElementsAre(HasSubstr("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE: '${rnk}' is not a "
                                    "field; did you mean ${rank}?")));
}

TEST(Variables, LogLevelIsHeededUnlessAnOptionSaysOtherwise) {
  for (const char* level : {"INFO", "DEBUG"})
    EXPECT_EQ(job_of({"p"}, {std::string("LOGLEVEL=") + level}).verbosity, Verbosity::verbose);
  for (const char* level : {"WARNING", "ERROR", "", "x"})
    EXPECT_EQ(job_of({"p"}, {std::string("LOGLEVEL=") + level}).verbosity, Verbosity::normal);
  EXPECT_EQ(job_of({"-q", "p"}, {"LOGLEVEL=INFO"}).verbosity, Verbosity::quiet);
  EXPECT_EQ(job_of({"p"}, {"LOGLEVEL=INFO", "PET_VERBOSE=0"}).verbosity, Verbosity::normal);
}

TEST(Environment, KeepsWhatItWasGiven) {
  char a[] = "A=1";
  char again[] = "A=2";
  char odd[] = "odd";
  char empty[] = "E=";
  char* entries[] = {a, odd, again, empty, nullptr};
  const Environment environment(entries);
  EXPECT_THAT(environment.entries(), ElementsAre("A=1", "odd", "A=2", "E="));
  EXPECT_EQ(environment.get("A"), "1");
  EXPECT_EQ(environment.get("E"), "");
  EXPECT_EQ(environment.get("odd"), std::nullopt);
  EXPECT_EQ(environment.get("AA"), std::nullopt);
  EXPECT_TRUE(Environment(nullptr).entries().empty());
}

}  // namespace
}  // namespace ddprun::cli
