// What `cmake --install` leaves: a tree that works wherever it lies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

class Installed : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* component : {"launcher", "rdzvd"}) {
      const Finished end = run({DDPRUN_CMAKE, "--install", DDPRUN_BUILD_FOLDER, "--prefix",
                                prefix_.path(), "--component", component},
                               {.limit = std::chrono::seconds(60)});
      ASSERT_EQ(end.code, 0) << end.err;
    }
  }
  Finished installed_ddprun(std::vector<std::string> words, RunOptions options = {}) {
    words.insert(words.begin(), prefix_ / "bin/ddprun");
    return run(std::move(words), std::move(options));
  }
  TemporaryFolder prefix_;
};

TEST_F(Installed, StartsWorkers) {
  const Finished end = installed_ddprun({"-n", "2", "/bin/sh", "-c", "echo rank $RANK"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), testing::UnorderedElementsAre("rank 0", "rank 1"));
}

TEST_F(Installed, BindsWithItsOwnModule) {
#ifndef DDPRUN_WITH_HWLOC
  GTEST_SKIP() << "built without hwloc: there is no module to install";
#endif
  const Finished end =
      installed_ddprun({"-n", "2", "--bind", "cores", "--report-bindings", "/bin/sh", "-c", ":"},
                       {.environment = {"HWLOC_SYNTHETIC=package:1 numa:1 core:4 pu:1"}});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("CPUs 2-3"));
}

TEST_F(Installed, GuardsWithItsOwnModule) {
#ifndef DDPRUN_WITH_OPENSSL
  GTEST_SKIP() << "built without OpenSSL: there is no module to install";
#endif
  for (const char* folder : {"lib/ddprun", "lib/rdzvd"})
    EXPECT_EQ(::access((prefix_ / folder + "/libddprun_openssl.so").c_str(), R_OK), 0) << folder;
  const Finished end = run({prefix_ / "bin/rdzvctl", "--endpoint", "127.0.0.1:1", "status"},
                           {.environment = {"RDZV_TOKEN=a-token-of-many-letters"}});
  EXPECT_EQ(end.code, 1) << end.err;  // 2: its module is not there
}

TEST_F(Installed, GivesItsPages) {
  for (const char* page :
       {"share/man/man1/ddprun.1", "share/man/man1/rdzvctl.1", "share/man/man8/rdzvd.8",
        "lib/systemd/system/rdzvd.service", "share/zsh/site-functions/_ddprun",
        "share/bash-completion/completions/ddprun", "share/fish/vendor_completions.d/ddprun.fish"})
    EXPECT_EQ(::access((prefix_ / page).c_str(), R_OK), 0) << page;
}

// bash-completion sources share/bash-completion/completions/NAME when NAME is completed first.
TEST_F(Installed, CompletesInBash) {
  const Finished end =
      run({"/bin/bash", "--norc", "-c",
           "source \"$0\" && complete -p ddprun && COMP_WORDS=(ddprun --npro) "
           "COMP_CWORD=1 && $(complete -p ddprun | sed 's/.*-F \\([^ ]*\\) .*/\\1/')"
           "; echo \"${COMPREPLY[@]}\"",
           prefix_ / "share/bash-completion/completions/ddprun"});
  EXPECT_THAT(end.out, HasSubstr("--nproc-per-node\n")) << end.err;
}

}  // namespace
}  // namespace ddprun::test
