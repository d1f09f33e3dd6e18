#include "launcher/dry_run.h"

#include <string>

#include "launcher/agent/agent.h"
#include "launcher/agent/preflight.h"
#include "launcher/plan/command.h"
#include "launcher/plan/dry_run.h"
#include "launcher/plan/make.h"
#include "launcher/process/exit_codes.h"
#include "launcher/report/output_file.h"
#include "launcher/report/plan_json.h"

namespace ddprun {
namespace {

// The first line that a real run would end with before its first worker; "" when there is none.
std::string refusal_of(const cli::JobSpec& spec, const plan::LaunchPlan& plan,
                       agent::Programs& programs) {
  if (const auto why = cannot_start(spec, plan, programs)) return why->text;
  const auto error = agent::cannot_begin(spec);
  return error ? error->text : "";
}

// A plan without workers has no table.
cli::Exit show_plan(const cli::JobSpec& spec, const plan::LaunchPlan& plan,
                    const cli::Environment& environment, const std::string& refusal) {
  const plan::Meeting meeting{.master_addr = agent::store_address(spec),
                              .master_port = spec.master_port.value_or(0),
                              .run_id = spec.run_id.value_or("")};
  cli::Exit exit;
  if (spec.report) {
    std::string text = report::plan_json(plan, meeting, environment, refusal);
    if (*spec.report == "-")
      exit.out = std::move(text);
    else if (const auto written = report::replace_file("--report", *spec.report, text); !written)
      return {process::kExitRefused, "", "ddprun: " + written.error().text + "\n"};
  } else if (!plan.workers.empty()) {
    exit.out = plan::dry_run_table(plan, meeting, environment);
  }
  if (refusal.empty()) return exit;
  exit.code = process::kExitRefused;
  exit.err = "ddprun: " + refusal + "\n";
  return exit;
}

}  // namespace

std::optional<report::ExecFailure> cannot_start(const cli::JobSpec& spec,
                                                const plan::LaunchPlan& plan,
                                                agent::Programs& programs) {
  if (plan::runs_python(spec) && !spec.module)
    if (auto why = programs.cannot_read(spec.command.front())) return why;
  return programs.cannot_start(plan);
}

cli::Exit dry_run(const cli::JobSpec& spec, const plan::LaunchPlan& plan,
                  const cli::Environment& environment, agent::Programs& programs) {
  return show_plan(spec, plan, environment, refusal_of(spec, plan, programs));
}

cli::Exit dry_run_without_plan(const cli::JobSpec& spec, const std::string& host,
                               const cli::Environment& environment, const std::string& why) {
  return show_plan(spec, plan::without_workers(spec, host), environment, why);
}

}  // namespace ddprun
