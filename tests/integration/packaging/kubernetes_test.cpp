// The files for Kubernetes fit its API, and pods with the environment that Kubernetes, JobSet and
// Kubeflow Trainer give them meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>

#include "rendezvous/base/read_file.h"
#include "tests/integration/support/json_schema.h"
#include "tests/integration/support/loopback_port.h"
#include "tests/integration/support/run.h"
#include "tests/integration/support/yaml.h"

namespace ddprun::test {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Words = std::vector<std::string>;

std::vector<json::value> example(const std::string& name) {
  return read_yaml(read_file(std::string(DDPRUN_PACKAGING) + "/kubernetes/" + name).value_or(""));
}

std::vector<std::string> faults(const json::value& object, const std::string& kind) {
  const json::value all = json::parse(read_file(DDPRUN_KUBERNETES_SCHEMA).value());
  json::object schema{{"$ref", "#/$defs/" + kind}};
  schema["$defs"] = all.at("$defs");
  return schema_faults(object, schema);
}

TEST(Kubernetes, TheFilesFitTheApi) {
  const auto indexed = example("indexed-job.yaml");
  ASSERT_THAT(indexed, SizeIs(2));
  EXPECT_THAT(faults(indexed[0], "service"), IsEmpty());
  EXPECT_THAT(faults(indexed[1], "job"), IsEmpty());
  const auto set = example("jobset.yaml");
  ASSERT_THAT(set, SizeIs(1));
  EXPECT_THAT(faults(set[0], "job_set"), IsEmpty());
}

TEST(Kubernetes, AMistakeInAFileWouldBeFound) {
  json::value job = example("indexed-job.yaml").at(1);
  job.at("spec").as_object()["backofLimit"] = 0;
  job.at("spec").at("completions") = "2";
  EXPECT_THAT(faults(job, "job"), SizeIs(2));
  EXPECT_THROW(read_yaml("a: 1\na: 2\n"), std::runtime_error);
  EXPECT_THROW(read_yaml("a: 1\n  b: 2\n"), std::runtime_error);
}

// Kubernetes kills what is left after the grace, and gives a container 64 MiB of /dev/shm.
void expect_room_and_time(const json::value& pod) {
  EXPECT_GT(pod.at("terminationGracePeriodSeconds").as_int64(), 30) << "--shutdown-timeout";
  const json::value& volume = pod.at("volumes").at(0);
  EXPECT_EQ(volume.at("emptyDir").at("medium"), "Memory");
  const json::value& mount = pod.at("containers").at(0).at("volumeMounts").at(0);
  EXPECT_EQ(mount.at("name"), volume.at("name"));
  EXPECT_EQ(mount.at("mountPath"), "/dev/shm");
}

TEST(Kubernetes, PodsHaveSharedMemoryAndTimeToStop) {
  const json::value job = example("indexed-job.yaml").at(1);
  expect_room_and_time(job.at_pointer("/spec/template/spec"));
  const json::value set = example("jobset.yaml").at(0);
  expect_room_and_time(set.at_pointer("/spec/replicatedJobs/0/template/spec/template/spec"));
}

// Starts two pods, and returns what each has shown. `variables` are those of a pod by its number.
template <class F>
std::vector<Finished> run_two_pods(const Words& options, const F& variables) {
  Words words = options;
  words.insert(words.end(), {"--device", "cpu", "--", "sh", "-c",
                             "echo rank $RANK of $WORLD_SIZE in $TORCHELASTIC_RUN_ID; exec " +
                                 std::string(DDPRUN_TEST_WORKER) + " store 1 key"});
  std::vector<std::unique_ptr<Program>> pods;
  for (const int index : {0, 1})
    pods.push_back(std::make_unique<Program>(ddprun_words(words),
                                             RunOptions{.environment = variables(index)}));
  std::vector<Finished> ends;
  for (const auto& pod : pods) ends.push_back(pod->finish());
  return ends;
}

void expect_met(const std::vector<Finished>& ends, int workers, const std::string& run) {
  for (int rank = 0; rank < 2 * workers; ++rank) {
    const Finished& end = ends.at(rank / workers);
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, AllOf(HasSubstr("rank " + std::to_string(rank) + " of " +
                                         std::to_string(2 * workers) + " in " + run + "\n"),
                               HasSubstr("met\n")));
  }
}

std::string free_port() {
  return std::to_string(LoopbackPort().number());
}

// A port and an address of this machine stand for those of the first pod.
TEST(Kubernetes, PodsOfAnIndexedJobMeet) {
  const std::string port = free_port();
  expect_met(run_two_pods({"--cluster", "kubernetes", "--nnodes", "2", "-n", "2"},
                          [&](int index) {
                            const std::string number = std::to_string(index);
                            return Words{"KUBERNETES_SERVICE_HOST=10.96.0.1",
                                         "JOB_COMPLETION_INDEX=" + number,
                                         "HOSTNAME=train-" + number, "MASTER_ADDR=127.0.0.1",
                                         "MASTER_PORT=" + port};
                          }),
             2, "train");
}

TEST(Kubernetes, PodsOfAJobSetThatWasRestartedMeet) {
  const std::string port = free_port();
  expect_met(run_two_pods({"--cluster", "kubernetes", "--nnodes", "2", "-n", "1"},
                          [&](int index) {
                            const std::string number = std::to_string(index);
                            return Words{"JOB_COMPLETION_INDEX=" + number,
                                         "HOSTNAME=train-node-0-" + number,
                                         "JOBSET_NAME=train",
                                         "JOBSET_RESTART_ATTEMPT=2",
                                         "MASTER_ADDR=127.0.0.1",
                                         "MASTER_PORT=" + port};
                          }),
             1, "train.r2");
}

// Trainer makes an indexed Job of a JobSet and says all that torchrun needs by PET_*.
TEST(Kubernetes, PodsOfKubeflowTrainerMeetWithoutAnOption) {
  const std::string port = free_port();
  expect_met(run_two_pods({},
                          [&](int index) {
                            const std::string number = std::to_string(index);
                            return Words{"JOB_COMPLETION_INDEX=" + number,
                                         "HOSTNAME=train-node-0-" + number,
                                         "PET_NNODES=2",
                                         "PET_NPROC_PER_NODE=2",
                                         "PET_NODE_RANK=" + number,
                                         "PET_MASTER_ADDR=127.0.0.1",
                                         "PET_MASTER_PORT=" + port};
                          }),
             2, "none");
}

TEST(Kubernetes, TrainersAddressIsTheFirstPodOfItsJobSet) {
  const Finished end =
      ddprun({"--dry-run", "--report", "-", "true"},
             {.environment = {"PET_NNODES=2", "PET_NPROC_PER_NODE=auto", "PET_NODE_RANK=1",
                              "PET_MASTER_ADDR=train-node-0-0.train", "PET_MASTER_PORT=29400"}});
  const json::value report = json::parse(end.out);
  EXPECT_EQ(report.at("rendezvous").at("endpoint"), "train-node-0-0.train:29400");
  EXPECT_EQ(report.at("rendezvous").at("node_rank"), 1);
}

}  // namespace
}  // namespace ddprun::test
