// Real MPI launchers start ddprun, several times on this host, each as a node of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/multi_node/nodes.h"
#include "tests/support/mpi_launchers.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::test {

static void PrintTo(const MpiLauncher& launcher, std::ostream* out) {
  *out << launcher.name;
}

namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kNodes = 4;

class MpiTest : public testing::TestWithParam<MpiLauncher> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
  }
  // Four ddpruns with `options`, whose workers run `script`.
  std::unique_ptr<Program> mpirun(const Words& options, const std::string& script,
                                  bool by_a_shell = false) const {
    const std::string file = folder_ / "worker.sh";
    std::ofstream(file) << script;
    Words words{GetParam().program};
    words.insert(words.end(), GetParam().options.begin(), GetParam().options.end());
    words.insert(words.end(), {"-np", std::to_string(kNodes)});
    Words launch{"--cluster", "mpi", "--rdzv-endpoint", "127.0.0.1:" + free_port()};
    launch.insert(launch.end(), options.begin(), options.end());
    launch.insert(launch.end(), {"--", "sh", file});
    launch = ddprun_words(launch);
    // Something follows, so that the shell waits for it and is not replaced.
    if (by_a_shell) launch.insert(launch.begin(), {"bash", "-c", R"("$@"; true)", "bash"});
    words.insert(words.end(), launch.begin(), launch.end());
    return std::make_unique<Program>(words, RunOptions{.limit = seconds(60)});
  }
  // All meet; then each waits, and leaves a file when it is told to stop.
  std::string saves() const {
    return "trap 'touch " + (folder_ / "saved.$RANK") + "; exit 0' TERM INT\n" +
           DDPRUN_TEST_WORKER " store 1 key\nfor i in $(seq 600); do sleep 0.1; done\n";
  }
  void expect_all_saved_and_gone() const {
    EXPECT_TRUE(nobody_has(folder_.path(), seconds(20))) << "processes are left";
    if (!GetParam().patient) return;
    for (int rank = 0; rank < kNodes; ++rank)
      EXPECT_TRUE(std::filesystem::exists(folder_ / "saved." + std::to_string(rank))) << rank;
  }

 private:
  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(, MpiTest, testing::ValuesIn(mpi_launchers()),
                         [](const auto& each) { return each.param.name; });

TEST_P(MpiTest, EachDdprunIsANode) {
  const auto job = mpirun({"-n", "2"},
                          "echo rank $RANK of $WORLD_SIZE, node $GROUP_RANK, "
                          "$(env | grep -cE '^(OMPI_COMM_WORLD_|PMI)') left\n" DDPRUN_TEST_WORKER
                          " store 1 key\n");
  const Finished end = job->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(count_of("met\n", end.out), 8) << end.out << end.err;
  for (int rank = 0; rank < 8; ++rank)
    EXPECT_THAT(end.out, HasSubstr("rank " + std::to_string(rank) + " of 8, node " +
                                   std::to_string(rank / 2) + ", 0 left\n"));
  for (const char* once : {"other hosts cannot reach", "4 ddpruns are on this host"})
    EXPECT_EQ(count_of(once, end.err), 1) << once << " is for all nodes\n" << end.err;
}

TEST_P(MpiTest, AFailureIsToldByAllAndItsCodeComesBack) {
  const auto job = mpirun({"-n", "1"}, DDPRUN_TEST_WORKER
                          " store 1 key\n[ $RANK = 2 ] || exec sleep 60\n"
                          "echo the reason >&2; exit 7\n");
  const Finished end = job->finish();
  EXPECT_EQ(end.code, 7) << end.err;
  EXPECT_THAT(end.err, AllOf(HasSubstr("ddprun: rank 2 failed first: exit code 7"),
                             HasSubstr("    | the reason\n")));
}

TEST_P(MpiTest, SeveralWithoutANumberOfWorkersAreRefused) {
  const Finished end = mpirun({}, "true\n")->finish();
  EXPECT_EQ(end.code, 2) << end.err;
  EXPECT_THAT(end.err, HasSubstr("with -n how many each of them has"));
}

class MpiEndTest : public MpiTest {
 protected:
  void end_with(int signo, bool by_a_shell = false) {
    const auto job = mpirun({"-n", "1"}, saves(), by_a_shell);
    ASSERT_TRUE(job->wait_for_output("met\n", kNodes)) << job->out();
    ::kill(job->pid(), signo);
    expect_all_saved_and_gone();
  }
};

INSTANTIATE_TEST_SUITE_P(, MpiEndTest, testing::ValuesIn(mpi_launchers()),
                         [](const auto& each) { return each.param.name; });

TEST_P(MpiEndTest, CtrlCLeavesNobodyBehind) {
  end_with(SIGINT);
}

TEST_P(MpiEndTest, AStopLeavesNobodyBehind) {
  end_with(SIGTERM);
}

TEST_P(MpiEndTest, AKilledLauncherLeavesNobodyBehind) {
  end_with(SIGKILL);
}

TEST_P(MpiEndTest, AKilledLauncherOfAShellLeavesNobodyBehind) {
  end_with(SIGKILL, /*by_a_shell=*/true);
}

}  // namespace
}  // namespace ddprun::test
