#include "launcher/hosts/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "launcher/cli/parse.h"

namespace ddprun::hosts {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

Result<Job> job_of(const Words& words, const std::string& file = "", const Words& here = {}) {
  const cli::Environment environment(here);
  const auto job = cli::parse(words, environment);
  if (const auto* exit = std::get_if<cli::Exit>(&job)) return Error{exit->err};
  return make_job(*cli::scan(words), std::get<cli::JobSpec>(job), environment, file,
                  {.version = "1", .directory = "/w", .own_path = "/usr/bin/ddprun"});
}

std::string wrong(const Words& words, const std::string& file = "") {
  const auto job = job_of(words, file);
  return job ? "right" : job.error().text;
}

TEST(Job, HasTheHostsInTheirOrder) {
  const auto job = job_of({"--hosts", "b:2,a:1", "./train"});
  ASSERT_TRUE(job) << job.error().text;
  EXPECT_EQ(job->nodes[0].host.name, "b");
  EXPECT_EQ(job->nodes[1].index, 1);
  EXPECT_EQ(job->order.nodes, 2);
  EXPECT_EQ(job->order.patience_ms, 60'000u);
  EXPECT_EQ(job->order.silence_ms, 60'000u);
  EXPECT_FALSE(job->endpoint_given);
  EXPECT_TRUE(job_of({"--hosts=a", "--rdzv-endpoint=a:29500", "t"})->endpoint_given);
  EXPECT_TRUE(job_of({"--hosts=a", "t"}, "", {"PET_MASTER_ADDR=a"})->endpoint_given);
  EXPECT_EQ(job_of({"--hostfile=f", "t"}, "a slots=2\nb slots=2\n")->nodes.size(), 2u);
}

TEST(Job, RefusesNumbersThatContradictEachOther) {
  EXPECT_EQ(wrong({"--hosts=a,b", "--nnodes=3", "--master-addr=a", "t"}),
            "--hosts a,b and --nnodes 3: the list has 2 hosts; leave --nnodes out");
  EXPECT_EQ(wrong({"--hosts=a,b", "--nnodes=2", "t"}), "right");
  EXPECT_THAT(
      wrong({"--hosts=a:4,b:2", "-n", "4", "t"}),
      HasSubstr("--nproc-per-node 4 and b:2: each host has a number of workers of its own"));
  EXPECT_THAT(wrong({"--hosts=a:4,b:2", "-n", "gpu", "t"}),
              HasSubstr("--nproc-per-node and a:4: "));
  EXPECT_EQ(wrong({"--hosts=a:4,b:4", "-n", "4", "t"}), "right");
  EXPECT_EQ(wrong({"--hosts=a,b", "-n", "4", "t"}), "right");
}

TEST(Job, TakesNprocPerNodeForHostsWithoutANumber) {
  const auto job = job_of({"--hosts=a,b:1", "-n", "2", "t"});
  ASSERT_TRUE(job) << job.error().text;
  const std::string text = dry_run_text(*job, {false, false});
  EXPECT_THAT(text, HasSubstr("--nproc-per-node=2 '--log-line-prefix-template=[${hostname}] ' "
                              "--color=never --output=pipe t\n"));
  EXPECT_THAT(text, HasSubstr("--output=pipe --nproc-per-node=1 t\n"));
  EXPECT_EQ(wrong({"--hostfile=f", "-n", "gpu", "t"}, "a\nb slots=2\n"), "right");
}

TEST(Job, RefusesOptionsThatContradictEachOther) {
  EXPECT_THAT(wrong({"--hosts=a", "--hostfile=f", "t"}),
              HasSubstr("--hosts a and --hostfile f: drop one of them"));
  EXPECT_THAT(wrong({"--hosts=a", "--node-rank=1", "t"}),
              HasSubstr("--hosts a and --node-rank 1: a host's place"));
  EXPECT_THAT(wrong({"--hosts=a", "--doctor"}), HasSubstr("it looks at this machine alone"));
  EXPECT_THAT(wrong({"--hosts=a", "--hosts=b", "t"}), HasSubstr("--hosts is there twice"));
  EXPECT_THAT(wrong({"--hosts=a", "--node-rank=0", "t"}),
              HasSubstr("--hosts a and --node-rank 0: "));
  EXPECT_THAT(wrong({"--hosts=a", "--standalone", "t"}), HasSubstr("--hosts a and --standalone"));
  EXPECT_THAT(wrong({"--hosts=a", "--stdin=0", "t"}), HasSubstr("--hosts a and --stdin 0"));
  EXPECT_THAT(wrong({"--hosts=a,b", "--nnodes=2", "--rdzv-backend=c10d", "t"}),
              HasSubstr("--hosts a,b and --rdzv-backend c10d: the hosts are given"));
  EXPECT_THAT(wrong({"-x", "A=1", "t"}), HasSubstr("-x A=1: it is for the hosts of --hosts"));
  EXPECT_THAT(wrong({"--hosts=a", "--rsh=", "t"}), HasSubstr("is no command"));
  EXPECT_THAT(wrong({"--rsh=x", "t"}), HasSubstr("--rsh x: it is for the hosts of --hosts"));
}

TEST(Job, NamesTheOptionInWhichSomethingIsWrong) {
  EXPECT_THAT(wrong({"--hosts=a:x", "t"}), HasSubstr("--hosts: 'a:x' is not a host: "));
  EXPECT_THAT(wrong({"--hostfile=f", "t"}, "a slot=1"), HasSubstr("--hostfile 'f': line 1: "));
  EXPECT_THAT(wrong({"--hosts=a", "-x", "NOT_SET", "t"}), HasSubstr("-x: 'NOT_SET' is not set"));
}

TEST(DryRun, ShowsEachHostsCommandAndNoValueOfAVariable) {
  const auto job = job_of({"--hosts=localhost:2,b:1", "-x", "TOKEN=secret", "./train", "a b"});
  const std::string text = dry_run_text(*job, {true, false});
  EXPECT_THAT(text, HasSubstr("node 0 on localhost\n  reached by  this host\n"));
  EXPECT_THAT(text, HasSubstr("node 1 on b\n  reached by  ssh -T "));
  EXPECT_THAT(text, HasSubstr("--nproc-per-node=1 ./train 'a b'\n"));
  EXPECT_THAT(text, HasSubstr("variables: TOKEN\n"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace ddprun::hosts
