#include "launcher/hosts/passed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "launcher/cli/parse.h"

namespace ddprun::hosts {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using Texts = std::vector<std::string>;

Texts passed(const Texts& exports, const Texts& here) {
  const auto entries = passed_environment(exports, cli::Environment(here));
  return entries ? *entries : Texts{"wrong: " + entries.error().text};
}

TEST(Passed, GoesUnaskedWhereItTellsLibrariesHowToWork) {
  EXPECT_THAT(passed({}, {"NCCL_DEBUG=INFO", "HOME=/root", "GLOO_SOCKET_IFNAME=eth0", "PATH=/bin",
                          "HF_TOKEN=secret", "PYTHONPATH=/p", "OMP_NUM_THREADS=2",
                          "CUDA_VISIBLE_DEVICES=0", "MASTER_ADDR=x", "SSH_AUTH_SOCK=/s"}),
              ElementsAre("NCCL_DEBUG=INFO", "GLOO_SOCKET_IFNAME=eth0", "PATH=/bin",
                          "PYTHONPATH=/p", "OMP_NUM_THREADS=2"));
}

TEST(Passed, HasTheDefaultsOfOptionsButNotThoseAboutHosts) {
  EXPECT_THAT(passed({}, {"PET_MAX_RESTARTS=2", "PET_HOSTS=a,b", "PET_RSH=ssh", "PET_NNODES=2",
                          "PET_HOSTFILE=f", "PET_REPORT=r", "PET_DRY_RUN=1", "LOGLEVEL=INFO",
                          "TORCHELASTIC_RUN_ID=7"}),
              ElementsAre("PET_MAX_RESTARTS=2", "LOGLEVEL=INFO"));
}

TEST(Passed, IsWhatWasAskedFor) {
  EXPECT_THAT(passed({"A", "B=2=3", "C="}, {"A=1", "B=0"}), ElementsAre("A=1", "B=2=3", "C="));
  EXPECT_THAT(passed({"HF_*"}, {"HF_A=1", "HF_B=2", "H=3"}), ElementsAre("HF_A=1", "HF_B=2"));
  // The last one counts.
  EXPECT_THAT(passed({"NCCL_DEBUG=WARN"}, {"NCCL_DEBUG=INFO"}), ElementsAre("NCCL_DEBUG=WARN"));
}

TEST(Passed, RefusesWhatIsNotThere) {
  EXPECT_THAT(passed({"HF_TOKE"}, {"HF_TOKEN=1"}),
              ElementsAre("wrong: 'HF_TOKE' is not set here; did you mean HF_TOKEN?"));
  EXPECT_THAT(passed({"Q"}, {}), ElementsAre("wrong: 'Q' is not set here; write Q=VALUE"));
  EXPECT_THAT(passed({"A-B=1"}, {}), ElementsAre(HasSubstr("is not the name of a variable")));
}

TEST(Merged, PutsWhatIsPassedInThePlaceOfWhatIsThere) {
  EXPECT_THAT(merged_environment({"A=1", "B=2", "PATH=/bin:/usr/bin", "A=3"},
                                 {"A=4", "PATH=/opt:/bin", "LD_LIBRARY_PATH=/l"}),
              ElementsAre("B=2", "A=4", "PATH=/opt:/bin:/usr/bin", "LD_LIBRARY_PATH=/l"));
}

Texts options_of(const Texts& words, Console console = {}) {
  const auto job = cli::parse(words, cli::Environment());
  EXPECT_TRUE(std::holds_alternative<cli::JobSpec>(job)) << std::get<cli::Exit>(job).err;
  return options_for_nodes(*cli::scan(words), std::get<cli::JobSpec>(job), console);
}

TEST(OptionsForNodes, AreThoseThatAreNotAboutHosts) {
  EXPECT_THAT(
      options_of({"--hosts", "a,b", "--rsh", "x", "-x", "A=1", "-n", "2", "-m", "--report", "r",
                  "--max_restarts=3", "train"}),
      ElementsAre("--nproc-per-node=2", "--module", "--max-restarts=3",
                  "--log-line-prefix-template=[${hostname}] ", "--color=never", "--output=pipe"));
}

TEST(OptionsForNodes, SayWhereALineComesFrom) {
  EXPECT_THAT(options_of({"--hosts=a", "t"}, {.terminal = true, .colors = true}),
              IsSupersetOf({"--log-line-prefix-template=[${hostname}] [${rank}] ", "--color=always",
                            "--output=pty"}));
  EXPECT_THAT(options_of({"--hosts=a", "-t", "3", "t"}),
              Contains("--log-line-prefix-template=[${hostname}] [${rank}] "));
  EXPECT_THAT(options_of({"--hosts=a", "--prefix", "", "t"}),
              ElementsAre("--log-line-prefix-template=", "--color=never", "--output=pipe"));
  EXPECT_THAT(options_of({"--hosts=a", "--output=inherit", "--color=always", "t"}),
              ElementsAre("--output=inherit", "--color=always"));
}

TEST(WordsOfNode, GiveEachItsWorkersAndItsFiles) {
  const Texts files{"--report=r.json", "--events=-"};
  EXPECT_THAT(words_of_node({"-q"}, files, {"t", "x"}, 0, {.name = "a", .port = {}, .slots = 4}),
              ElementsAre("-q", "--nproc-per-node=4", "--report=r.json", "--events=-", "t", "x"));
  EXPECT_THAT(words_of_node({}, files, {"--", "t"}, 1, {.name = "b", .port = {}}),
              ElementsAre("--report=r.json.b", "--", "t"));
}

}  // namespace
}  // namespace ddprun::hosts
