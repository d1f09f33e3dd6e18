// Names of nodes that the resolver does not have: Slurm is asked, here by a scontrol of the test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SlurmNames : public testing::Test {
 protected:
  // What scontrol does when it is asked for a node.
  void set_scontrol(const std::string& script) const {
    const std::string path = folder_ / "scontrol";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0700);
  }
  // Makes the file "$0.go" of it.
  void let_scontrol_answer() const { std::ofstream(folder_ / "scontrol.go"); }
  // A file that a scontrol can leave.
  std::string asked() const { return folder_ / "asked"; }
  // A node of a step on `nodes`, whose worker says where node rank 0 is.
  std::unique_ptr<Program> node(int rank, const std::string& nodes,
                                const std::vector<std::string>& options) const {
    std::vector<std::string> words{"/usr/bin/env",
                                   "PATH=" + folder_.path() + ":/usr/bin:/bin",
                                   "LD_PRELOAD=" DDPRUN_ONLY_SLURM_KNOWS,
                                   "SLURM_JOB_ID=" + std::to_string(::getpid()),
                                   "SLURM_STEP_ID=0",
                                   "SLURM_STEP_NUM_NODES=2",
                                   "SLURM_STEP_NUM_TASKS=2",
                                   "SLURM_NODEID=" + std::to_string(rank),
                                   "SLURM_STEP_NODELIST=" + nodes};
    std::vector<std::string> launch{"--cluster", "slurm", "--device", "cpu", "-n", "1"};
    launch.insert(launch.end(), options.begin(), options.end());
    launch.insert(launch.end(),
                  {"--", "sh", "-c", "echo rank $RANK of $WORLD_SIZE at $MASTER_ADDR"});
    launch = ddprun_words(launch);
    words.insert(words.end(), launch.begin(), launch.end());
    return std::make_unique<Program>(words);
  }
  // Both nodes, at the same time.
  std::vector<Finished> both(const std::string& nodes,
                             const std::vector<std::string>& options = {}) const {
    const auto first = node(0, nodes, options), second = node(1, nodes, options);
    std::vector<Finished> ends;
    for (const auto& each : {first.get(), second.get()}) ends.push_back(each->finish());
    return ends;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(SlurmNames, TheAddressThatSlurmHasIsUsed) {
  set_scontrol(
      "[ \"$*\" = '--oneliner show node only1' ] && "
      "echo NodeName=$4 Arch=x86_64 NodeAddr=127.0.0.1 NodeHostName=only1");
  const auto ends = both("only[1-2]");
  for (const int rank : {0, 1}) {
    EXPECT_EQ(ends[rank].code, 0) << ends[rank].err;
    EXPECT_EQ(ends[rank].out, "rank " + std::to_string(rank) + " of 2 at 127.0.0.1\n");
  }
}

TEST_F(SlurmNames, AResolverThatDoesNotAnswerIsNotWaitedFor) {
  set_scontrol("echo NodeName=$4 Arch=x86_64 NodeAddr=127.0.0.1 NodeHostName=$4");
  for (const Finished& end : both("slow[1-2]")) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_LT(end.took, seconds(10));
    EXPECT_THAT(end.err, Not(HasSubstr("cannot be looked up")));
  }
}

TEST_F(SlurmNames, WhatTheResolverHasSaidIsToldOnce) {
  set_scontrol("echo NodeName=$4 Arch=x86_64 NodeAddr=127.0.0.1 NodeHostName=$4");
  EXPECT_THAT(both("only[1-2]")[0].err,
              HasSubstr("ddprun: 'only1' cannot be looked up: Name or service not known; Slurm has "
                        "127.0.0.1 for it (scontrol show node)\n"));
  EXPECT_THAT(both("slow[1-2]")[0].err,
              HasSubstr("ddprun: looking up 'slow1' takes longer than 1 s; Slurm has 127.0.0.1 for "
                        "it (scontrol show node)\n"));
}

TEST_F(SlurmNames, ANameThatNobodyKnowsEndsTheJobAtOnce) {
  set_scontrol("echo NodeName=$4 Arch=x86_64 NodeAddr=$4 NodeHostName=$4");
  for (const Finished& end : both("only[1-2]")) {
    EXPECT_EQ(end.code, 125);
    EXPECT_THAT(end.err, HasSubstr("ddprun: 'only1' cannot be looked up: Name or service not "
                                   "known; Slurm has no other address for it (scontrol show node "
                                   "only1); give --master-addr, an address of the job's first "
                                   "node"));
    EXPECT_LT(end.took, seconds(10));
  }
}

TEST_F(SlurmNames, WhySlurmCouldNotBeAskedIsSaid) {
  set_scontrol("echo slurm_load_node error: Unable to contact slurm controller; exit 1");
  for (const Finished& end : both("only[1-2]", {"--rdzv-conf", "join_timeout=3"}))
    EXPECT_THAT(end.err, HasSubstr("(scontrol ended with 1: slurm_load_node error: Unable to "
                                   "contact slurm controller); give --master-addr"));
}

TEST_F(SlurmNames, ABusySlurmIsAskedAgain) {
  set_scontrol(
      "[ -e $0.$SLURM_NODEID ] && echo NodeName=$4 NodeAddr=127.0.0.1 && exit; "
      "touch $0.$SLURM_NODEID; echo Unable to contact slurm controller; exit 1");
  for (const Finished& end : both("only[1-2]")) EXPECT_EQ(end.code, 0) << end.err;
}

TEST_F(SlurmNames, ThatSlurmIsAskedAgainIsSaid) {
  set_scontrol("[ -e $0.go ] && echo NodeName=$4 NodeAddr=127.0.0.1 && exit; echo busy; exit 1");
  const auto first = node(0, "only[1-2]", {}), second = node(1, "only[1-2]", {});
  for (const auto& each : {first.get(), second.get()})
    EXPECT_TRUE(each->wait_for_error(
        "'only1' cannot be looked up: Name or service not known; scontrol ended with 1: busy; it "
        "is asked again (for "));
  let_scontrol_answer();
  EXPECT_EQ(first->finish().code, 0);
  EXPECT_EQ(second->finish().code, 0);
}

TEST_F(SlurmNames, ANodeThatSlurmDoesNotKnowEndsTheJobAtOnce) {
  set_scontrol("echo Node $4 not found; exit 1");
  for (const Finished& end : both("only[1-2]")) {
    EXPECT_EQ(end.code, 125);
    EXPECT_THAT(end.err, HasSubstr("(scontrol ended with 1: Node only1 not found)"));
    EXPECT_LT(end.took, seconds(10));
  }
}

TEST_F(SlurmNames, ANameThatTheResolverHasIsNotAskedFor) {
  set_scontrol("touch " + asked() + "; echo NodeName=$4 Arch=x86_64 NodeAddr=127.0.0.1");
  for (const Finished& end : both("localhost,only2")) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.err, Not(HasSubstr("scontrol")));
  }
  EXPECT_FALSE(std::filesystem::exists(asked()));
}

}  // namespace
}  // namespace ddprun::test
