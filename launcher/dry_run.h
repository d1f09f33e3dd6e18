// --dry-run: everything is checked and shown, nothing is started.
#pragma once

#include <optional>
#include <string>

#include "launcher/agent/programs.h"
#include "launcher/cli/environment.h"
#include "launcher/cli/parse.h"
#include "launcher/plan/launch_plan.h"
#include "launcher/report/exec_failure.h"

namespace ddprun {

// Why a program of `plan` could not be started, as far as that can be told without doing it. Every
// start asks this.
std::optional<report::ExecFailure> cannot_start(const cli::JobSpec& spec,
                                                const plan::LaunchPlan& plan,
                                                agent::Programs& programs);

// Runs the checks that come before a start and shows the plan: a table for stdout, or with --report
// JSON, for stdout (`-`) or written to the file. Exit code 0, or 2 where a real run would refuse or
// could not execute the program, with the line that it would print.
cli::Exit dry_run(const cli::JobSpec& spec, const plan::LaunchPlan& plan,
                  const cli::Environment& environment, agent::Programs& programs);

// The answer where no plan could be made: exit code 2 and the line `why`; with --report JSON whose
// `refusal` it is, without ranks. `host` is this machine's name.
cli::Exit dry_run_without_plan(const cli::JobSpec& spec, const std::string& host,
                               const cli::Environment& environment, const std::string& why);

}  // namespace ddprun
