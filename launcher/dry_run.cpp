#include "launcher/dry_run.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string>

#include "launcher/agent/agent.h"
#include "launcher/agent/preflight.h"
#include "launcher/plan/command.h"
#include "launcher/plan/dry_run.h"
#include "launcher/process/exit_codes.h"
#include "launcher/report/output_file.h"
#include "launcher/report/plan_json.h"

namespace ddprun {
namespace {

// The first line that a real run would end with before its first worker; "" when there is none.
std::string refusal_of(const cli::JobSpec& spec, const plan::LaunchPlan& plan,
                       const cli::Environment& environment) {
  if (const auto why = cannot_start(spec, plan, environment)) return why->text;
  const auto error = agent::cannot_begin(spec);
  return error ? error->text : "";
}

}  // namespace

// Python itself would say of a missing script what it likes, and end with 2.
std::optional<report::ExecFailure> cannot_start(const cli::JobSpec& spec,
                                                const plan::LaunchPlan& plan,
                                                const cli::Environment& environment) {
  const std::string& script = spec.command.front();
  if (plan::runs_python(spec) && !spec.module && ::access(script.c_str(), R_OK) != 0)
    return report::ExecFailure{report::exec_failure_code(errno),
                               "cannot start '" + script + "': " + ::strerror(errno)};
  std::set<std::string> seen;  // with --wrap some workers begin with another program
  for (const plan::WorkerPlan& worker : plan.workers) {
    if (!seen.insert(worker.argv.front()).second) continue;
    if (auto why = agent::cannot_execute(worker.argv.front(), environment)) return why;
    if (spec.wraps.empty()) break;
  }
  return std::nullopt;
}

cli::Exit dry_run(const cli::JobSpec& spec, const plan::LaunchPlan& plan,
                  const cli::Environment& environment) {
  const plan::Meeting meeting{.master_addr = agent::store_address(spec),
                              .master_port = spec.master_port.value_or(0),
                              .run_id = spec.run_id.value_or("")};
  const std::string refusal = refusal_of(spec, plan, environment);
  cli::Exit exit;
  if (!spec.report) {
    exit.out = plan::dry_run_table(plan, meeting, environment);
  } else {
    std::string text = report::plan_json(plan, meeting, environment, refusal);
    if (*spec.report == "-")
      exit.out = std::move(text);
    else if (const auto written = report::replace_file("--report", *spec.report, text); !written)
      return {process::kExitRefused, "", "ddprun: " + written.error().text + "\n"};
  }
  if (refusal.empty()) return exit;
  exit.code = process::kExitRefused;
  exit.err = "ddprun: " + refusal + "\n";
  return exit;
}

}  // namespace ddprun
