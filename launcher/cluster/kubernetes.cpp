#include "launcher/cluster/allocation.h"
#include "launcher/cluster/variables.h"

namespace ddprun::cluster {
namespace {

// "train" of "train-3", where 3 is the completion index; none for a pod that is called otherwise.
std::optional<std::string> name_of_job(const std::string& host, int index) {
  const std::string tail = "-" + std::to_string(index);
  if (host.size() <= tail.size() || !host.ends_with(tail)) return std::nullopt;
  return host.substr(0, host.size() - tail.size());
}

// The Job's number among the replicas of a JobSet: 1 of "set-workers-1".
std::optional<std::uint64_t> index_in_set(const std::string& job) {
  return digits_of(std::string_view(job).substr(job.rfind('-') + 1));
}

Error no_index(const Variables& variables) {
  const bool in_a_pod = variables("KUBERNETES_SERVICE_HOST").has_value();
  return Error{std::string("JOB_COMPLETION_INDEX is not set, ") +
               (in_a_pod ? "so this pod is not of an indexed Job; give the Job completionMode: "
                           "Indexed, or leave the option out and say --node-rank"
                         : "so this process is in no pod of an indexed Job")};
}

// The pods of a Job or a JobSet find each other as POD.SERVICE. A JobSet makes the headless service
// itself and calls it by its own name; for a Job it is a custom to call it like the Job.
void guess_host(const std::string& job, const std::optional<Sourced<std::string>>& set,
                Allocation& allocation) {
  const std::string service = set ? set->value : job;
  allocation.host =
      Sourced<std::string>{job + "-0." + service, set ? "HOSTNAME and JOBSET_NAME" : "HOSTNAME"};
  allocation.host_is_guess = true;
}

std::string run_id_of(const std::string& name, const std::optional<Sourced<int>>& restarts) {
  return restarts && restarts->value != 0 ? name + ".r" + std::to_string(restarts->value) : name;
}

}  // namespace

Result<Allocation> read_kubernetes(const Variables& variables) {
  const auto index = number_of(variables, {"JOB_COMPLETION_INDEX"});
  if (!index) return index.error();
  if (!*index) return no_index(variables);
  const auto restarts = number_of(variables, {"JOBSET_RESTART_ATTEMPT"});
  if (!restarts) return restarts.error();
  Allocation allocation;
  allocation.node_rank = *index;
  const auto host = text_of(variables, {"HOSTNAME"});
  const auto job = host ? name_of_job(host->value, (*index)->value) : std::nullopt;
  if (!job) return allocation;
  const auto set = text_of(variables, {"JOBSET_NAME"});
  guess_host(*job, set, allocation);
  allocation.run_id = Sourced<std::string>{run_id_of(set ? set->value : *job, *restarts),
                                           set ? "JOBSET_NAME" : "HOSTNAME"};
  // The index counts the pods of one Job, not those of the set.
  if (set && index_in_set(*job).value_or(0) != 0) {
    allocation.notices.push_back("this pod is in Job " + std::to_string(*index_in_set(*job)) +
                                 " of JobSet " + set->value + " (" + shown(*host) +
                                 "), so JOB_COMPLETION_INDEX is not its node rank");
    allocation.node_rank.reset();
    allocation.host.reset();
  }
  return allocation;
}

}  // namespace ddprun::cluster
