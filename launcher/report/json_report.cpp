#include "launcher/report/json_report.h"

#include <boost/json/value.hpp>

#include "launcher/plan/wording.h"
#include "launcher/report/attempts.h"
#include "launcher/report/error_file.h"
#include "launcher/report/fates.h"
#include "launcher/report/json_text.h"
#include "launcher/report/names.h"
#include "rendezvous/base/first_line.h"

namespace ddprun::report {
namespace {

namespace json = boost::json;
using supervise::Outcome;
using supervise::Time;
using supervise::WaitStatus;
using supervise::WorkerEnd;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

json::value date(const JobRecord& job, const std::optional<Time>& when) {
  return when ? json::value(iso_time(job.clock, *when)) : json::value();
}

json::value since_begin(const JobRecord& job, const std::optional<Time>& when) {
  return when ? json::value(seconds(*when - job.timings.begun)) : json::value();
}

json::value signal_or_null(int signal) {
  return signal == 0 ? json::value() : json::value(signal_name(signal));
}

void add_status(json::object& object, const std::optional<WaitStatus>& status) {
  const bool exited = status && status->kind == WaitStatus::Kind::exited;
  object["code"] = exited ? json::value(status->value) : json::value();
  object["signal"] = status && !exited ? signal_or_null(status->value) : json::value();
  object["core_dumped"] = status && status->core_dumped;
}

json::value gpu_of(const plan::WorkerPlan& worker, const plan::LaunchPlan& plan) {
  if (!worker.gpu) return nullptr;
  return json::object{{"id", worker.gpu->index},
                      {"name", text_or_null(worker.gpu->name)},
                      {"uuid", text_or_null(worker.gpu->uuid)},
                      {"pci_address", text_or_null(worker.gpu->pci_address)},
                      {"simulated", plan.simulated_gpus.has_value()}};
}

json::object rank_object(const WorkerEnd& worker, const Facts& facts, const JobRecord& job) {
  const auto& plan = facts.plan->worker(worker.local_rank);
  const std::optional<Time> started =
      worker.pid != 0 ? std::optional(worker.started) : std::nullopt;
  json::object object{{"rank", plan.rank},
                      {"local_rank", plan.local_rank},
                      {"node_rank", facts.plan->node_rank},
                      {"host", utf8(facts.host)},
                      {"pid", worker.pid != 0 ? json::value(worker.pid) : json::value()},
                      {"device", plan::device_text(plan)},
                      {"gpu", gpu_of(plan, *facts.plan)},
                      {"class", name_of(worker.ending)},
                      {"started", date(job, started)},
                      {"ended", date(job, started ? worker.ended : std::nullopt)}};
  object["seconds"] =
      started && worker.ended ? json::value(seconds(*worker.ended - *started)) : json::value();
  add_status(object, worker.status);
  object["signalled_by_ddprun"] = signal_or_null(worker.last_signal);
  object["stacks"] = text_or_null(at_or_empty(facts.stacks, worker.local_rank));
  return object;
}

json::value out_of_memory(const Facts& facts) {
  if (!facts.out_of_memory) return nullptr;
  const auto& limit = facts.out_of_memory->limit;
  return json::object{{"kills", facts.out_of_memory->kills},
                      {"limit_bytes", limit ? json::value(*limit) : json::value()}};
}

json::value error_file(const ErrorFile& file) {
  if (file.text.empty()) return nullptr;
  return json::object{{"message", texts(file.message)},
                      {"callstack", texts(file.callstack)},
                      {"waited_for", json::array(file.waited_for.begin(), file.waited_for.end())},
                      {"remark", text_or_null(file.remark)}};
}

json::value remote_root_cause(const RemoteCause& cause) {
  if (!cause.worker) return nullptr;
  return json::object{{"rank", cause.worker->rank},
                      {"host", utf8(cause.worker->host)},
                      {"what", utf8(how(*cause.worker))},
                      {"core", nullptr},
                      {"out_of_memory", nullptr},
                      {"error_file", nullptr},
                      {"last_stderr", texts(cause.lines)},
                      {"last_stdout", json::array{}},
                      {"logs", nullptr}};
}

std::string cause_of(const Outcome& outcome, const Facts& facts) {
  const bool elsewhere = outcome.cause == supervise::Cause::ended_elsewhere && facts.remote;
  return elsewhere ? facts.remote->name : name_of(outcome.cause);
}

json::value root_cause(const Outcome& outcome, const Facts& facts) {
  if (outcome.cause == supervise::Cause::ended_elsewhere && facts.remote)
    return remote_root_cause(*facts.remote);
  if (!outcome.first_failed) return nullptr;
  const int local_rank = *outcome.first_failed;
  const auto& plan = facts.plan->worker(local_rank);
  const std::string logs =
      facts.log_dir.empty() ? "" : facts.log_dir + "/" + std::to_string(plan.rank) + "/";
  return json::object{{"rank", plan.rank},
                      {"host", utf8(facts.host)},
                      {"what", utf8(what_failed(outcome, facts))},
                      {"core", text_or_null(facts.core)},
                      {"out_of_memory", out_of_memory(facts)},
                      {"error_file", error_file(at_or_empty(facts.error_files, local_rank))},
                      {"last_stderr", texts(at_or_empty(facts.last_stderr, local_rank))},
                      {"last_stdout", texts(at_or_empty(facts.last_stdout, local_rank))},
                      {"logs", text_or_null(logs)}};
}

json::array restarts(const Facts& facts) {
  json::array array;
  for (const supervise::Attempt& attempt : facts.earlier_attempts) {
    json::object object{
        {"attempt", attempt.number},
        {"cause", name_of(attempt.cause)},
        {"rank", rank_of(attempt, *facts.plan)},
        {"host", utf8(attempt.host.empty() ? facts.host : attempt.host)},
        {"what", utf8(failure(attempt.cause, attempt.status, attempt.limit))},
        {"seconds", seconds(attempt.ran)},
    };
    add_status(object, attempt.status);
    array.push_back(std::move(object));
  }
  return array;
}

json::array leftovers(const Outcome& outcome) {
  json::array array;
  for (const auto& left : outcome.leftovers)
    array.push_back(json::object{{"pid", left.pid}, {"command", utf8(left.command)}});
  return array;
}

// What holds of every job, started or not, in the order in which it is read.
json::object frame(const JobRecord& job, std::string_view cause, std::string_view message,
                   const ExitDecision& end) {
  return {{"schema", kReportSchema},
          {"ddprun", job.version},
          {"command", texts(job.command)},
          {"run_id", text_or_null(job.run_id)},
          {"cause", cause},
          {"message", text_or_null(message)},
          {"exit_code", end.code},
          {"exit_signal", signal_or_null(end.by_signal)},
          {"started", iso_time(job.clock, job.timings.begun)},
          {"ended", iso_time(job.clock, job.timings.ended)},
          {"seconds", seconds(job.timings.ended - job.timings.begun)},
          {"world_size", 0},
          {"attempt", 0},
          {"root_cause", nullptr},
          {"nodes", json::array{}},
          {"ranks", json::array{}},
          {"restarts", json::array{}},
          {"leftovers", json::array{}},
          {"timings", nullptr}};
}

json::array nodes(const Facts& facts) {
  return {json::object{{"node_rank", facts.plan->node_rank},
                       {"host", utf8(facts.host)},
                       {"workers", facts.plan->workers.size()}}};
}

json::object timings(const JobRecord& job, const Outcome* outcome) {
  std::optional<Time> first, last, stopping;
  if (outcome != nullptr) {
    for (const WorkerEnd& worker : outcome->workers) {
      if (worker.pid == 0) continue;
      if (!first || worker.started < *first) first = worker.started;
      if (!last || worker.started > *last) last = worker.started;
    }
    if (outcome->cause != supervise::Cause::success) stopping = outcome->stopping_since;
  }
  return {{"parsed", since_begin(job, job.timings.parsed)},
          {"planned", since_begin(job, job.timings.planned)},
          {"store_listening", since_begin(job, job.timings.store_listening)},
          {"first_worker_started", since_begin(job, first)},
          {"last_worker_started", since_begin(job, last)},
          {"stopping", since_begin(job, stopping)},
          {"ended", since_begin(job, job.timings.ended)}};
}

// "ddprun: " belongs to stderr.
std::string summary_of(const std::string& text) {
  constexpr std::string_view kName = "ddprun: ";
  const std::string line = first_line(text);
  return line.starts_with(kName) ? line.substr(kName.size()) : line;
}

}  // namespace

std::string json_report(const Outcome& outcome, const Facts& facts, const JobRecord& job,
                        const ExitDecision& end) {
  json::object root = frame(job, cause_of(outcome, facts), summary_of(text(outcome, facts)), end);
  root["world_size"] = facts.plan->world_size;
  root["attempt"] = facts.attempt;
  root["root_cause"] = root_cause(outcome, facts);
  root["nodes"] = nodes(facts);
  json::array ranks;
  for (const WorkerEnd& worker : outcome.workers) ranks.push_back(rank_object(worker, facts, job));
  root["ranks"] = std::move(ranks);
  root["restarts"] = restarts(facts);
  root["leftovers"] = leftovers(outcome);
  root["timings"] = timings(job, &outcome);
  return pretty(root);
}

std::string json_refusal(const JobRecord& job, std::string_view cause, std::string_view message,
                         const ExitDecision& end) {
  json::object root = frame(job, cause, message, end);
  root["timings"] = timings(job, nullptr);
  return pretty(root);
}

}  // namespace ddprun::report
