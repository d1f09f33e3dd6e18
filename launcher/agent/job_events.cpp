#include "launcher/agent/job_events.h"

#include <unistd.h>

#include <chrono>

#include "launcher/cli/version.h"
#include "launcher/plan/wording.h"
#include "launcher/report/json_text.h"
#include "launcher/report/names.h"

namespace ddprun::agent {
namespace {

namespace json = boost::json;

supervise::Time now() {
  return std::chrono::steady_clock::now();
}

void add_status(json::object& fields, const std::optional<supervise::WaitStatus>& status) {
  if (!status) return;
  if (status->kind == supervise::WaitStatus::Kind::exited) {
    fields["code"] = status->value;
  } else {
    fields["signal"] = report::signal_name(status->value);
    fields["core_dumped"] = status->core_dumped;
  }
}

}  // namespace

json::object JobEvents::worker_fields(int attempt, const supervise::WorkerEnd& worker) const {
  const auto& plan = plan_.worker(worker.local_rank);
  return {{"attempt", attempt},
          {"rank", plan.rank},
          {"local_rank", plan.local_rank},
          {"host", report::utf8(host_)},
          {"pid", worker.pid}};
}

void JobEvents::job_started(const std::string& run_id, const std::vector<std::string>& command) {
  if (!log_) return;
  log_.add(now(), "job_started",
           {{"ddprun", cli::version()},
            {"run_id", report::utf8(run_id)},
            {"host", report::utf8(host_)},
            {"pid", ::getppid()},
            {"workers", plan_.workers.size()},
            {"world_size", plan_.world_size},
            {"command", report::texts(command)}});
}

void JobEvents::worker_started(int attempt, const supervise::WorkerEnd& worker) {
  if (!log_) return;
  json::object fields = worker_fields(attempt, worker);
  fields["device"] = plan::device_text(plan_.worker(worker.local_rank));
  log_.add(worker.started, "worker_started", fields);
}

void JobEvents::worker_ended(int attempt, const supervise::WorkerEnd& worker) {
  if (!log_) return;
  json::object fields = worker_fields(attempt, worker);
  add_status(fields, worker.status);
  fields["class"] = report::name_of(worker.ending);
  log_.add(worker.ended.value_or(now()), "worker_ended", fields);
}

void JobEvents::first_failure(int attempt, const supervise::Outcome& outcome) {
  if (!log_ || !outcome.first_failed || failed_attempt_ == attempt) return;
  failed_attempt_ = attempt;
  const auto& worker = outcome.workers.at(static_cast<std::size_t>(*outcome.first_failed));
  json::object fields = worker_fields(attempt, worker);
  fields["cause"] = report::name_of(outcome.cause);
  add_status(fields, worker.status);
  log_.add(now(), "first_failure", fields);
}

void JobEvents::stopping(int attempt, const supervise::Decision& decision) {
  if (!log_ || !decision.signal) return;
  json::array ranks;
  for (int local_rank : decision.signal->local_ranks) ranks.emplace_back(plan_.rank_of(local_rank));
  log_.add(now(), "stopping",
           {{"attempt", attempt},
            {"signal", report::signal_name(decision.signal->signo)},
            {"reason", decision.reason},
            {"ranks", std::move(ranks)}});
}

void JobEvents::restart(int attempt, const std::string& reason) {
  if (!log_) return;
  log_.add(now(), "restart", {{"attempt", attempt}, {"reason", report::utf8(reason)}});
}

void JobEvents::job_ended(const supervise::Outcome& outcome, const report::ExitDecision& end) {
  if (!log_) return;
  json::object fields{{"cause", report::name_of(outcome.cause)}, {"exit_code", end.code}};
  if (end.by_signal != 0) fields["exit_signal"] = report::signal_name(end.by_signal);
  log_.add(now(), "job_ended", fields);
}

}  // namespace ddprun::agent
