// The examples for Kubernetes and Slurm: their commands are run with the environment that the
// engine would give, and mean what the files say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>

#include "rendezvous/base/read_file.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

std::string example(const std::string& path) {
  return read_file(std::string(DDPRUN_PACKAGING) + "/" + path).value_or("");
}

// The values of `key` in a file, in their order, without a comment behind them.
std::vector<std::string> values_of(const std::string& text, const std::string& key) {
  const std::regex line("(?:^|\n)[ -]*" + key + ": ([^#\n]*[^# \n])");
  std::vector<std::string> values;
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it)
    values.push_back((*it)[1]);
  return values;
}

// The command of the container, which is written as JSON, without "ddprun" and its program.
std::vector<std::string> options_of(const std::string& text) {
  auto words =
      json::value_to<std::vector<std::string>>(json::parse(values_of(text, "command").at(0)));
  EXPECT_EQ(words.front(), "ddprun");
  return {words.begin() + 1, words.end() - 1};
}

json::object rendezvous_of(std::vector<std::string> options,
                           const std::vector<std::string>& environment) {
  options.insert(options.begin(), {"--dry-run", "--report", "-"});
  options.emplace_back("true");
  const Finished end = ddprun(options, {.environment = environment});
  EXPECT_NE(end.out, "") << end.err;
  return end.out.empty() ? json::object() : json::parse(end.out).at("rendezvous").as_object();
}

void expect_two_nodes(const json::object& rendezvous, int rank, const std::string& endpoint) {
  EXPECT_EQ(rendezvous.at("kind"), "static");
  EXPECT_EQ(rendezvous.at("max_nodes"), 2);
  EXPECT_EQ(rendezvous.at("node_rank"), rank);
  EXPECT_EQ(json::value_to<std::string>(rendezvous.at("endpoint")), endpoint);
}

TEST(EngineExamples, AnIndexedJobMeetsAtItsFirstPod) {
  const std::string text = example("kubernetes/indexed-job.yaml");
  EXPECT_EQ(values_of(text, "completionMode").at(0), "Indexed");
  EXPECT_EQ(values_of(text, "completions").at(0), "2");
  EXPECT_EQ(values_of(text, "parallelism").at(0), "2");
  const std::string service = values_of(text, "name").at(0), job = values_of(text, "name").at(1);
  EXPECT_EQ(values_of(text, "subdomain").at(0), service);
  EXPECT_EQ(values_of(text, "job-name").at(0), job);
  for (const int rank : {0, 1}) {
    const std::string index = std::to_string(rank);
    expect_two_nodes(rendezvous_of(options_of(text), {"JOB_COMPLETION_INDEX=" + index,
                                                      "HOSTNAME=" + job + "-" + index}),
                     rank, job + "-0." + service + ":29500");
  }
}

TEST(EngineExamples, AJobSetMeetsAtItsFirstPod) {
  const std::string text = example("kubernetes/jobset.yaml");
  EXPECT_EQ(values_of(text, "completions").at(0), "2");
  const std::string set = values_of(text, "name").at(0), node = values_of(text, "name").at(1);
  ASSERT_EQ(values_of(text, "name").at(3), "JOBSET_NAME");
  ASSERT_EQ(values_of(text, "name").at(4), "JOBSET_RESTART_ATTEMPT");
  const json::object rendezvous = rendezvous_of(
      options_of(text), {"JOB_COMPLETION_INDEX=1", "HOSTNAME=" + set + "-" + node + "-0-1",
                         "JOBSET_NAME=" + set, "JOBSET_RESTART_ATTEMPT=1"});
  expect_two_nodes(rendezvous, 1, set + "-" + node + "-0-0." + set + ":29500");
  EXPECT_EQ(rendezvous.at("run_id"), "train.r1");
}

TEST(EngineExamples, ABatchScriptStartsOneOnEachNode) {
  const std::string text = example("slurm/ddprun.sbatch");
  EXPECT_THAT(text, HasSubstr("#SBATCH --nodes=2\n"));
  const auto at = text.find("\nsrun --ntasks-per-node=1 ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(text.substr(at), HasSubstr(" ddprun --cluster slurm ./train\n"));
  const json::object rendezvous =
      rendezvous_of({"--cluster", "slurm"},
                    {"SLURM_JOB_ID=77", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_NODES=2",
                     "SLURM_STEP_NUM_TASKS=2", "SLURM_NODEID=1", "SLURM_STEP_NODELIST=gpu[7-8]"});
  expect_two_nodes(rendezvous, 1, "gpu7:12616");
}

}  // namespace
}  // namespace ddprun::test
