// A plan for programs: what --dry-run --report FILE writes. Its schema is docs/dry-run.schema.json.
#pragma once

#include <string>

#include "launcher/cli/environment.h"
#include "launcher/plan/launch_plan.h"

namespace ddprun::report {

// Raised when a field changes its meaning or goes; new fields do not raise it.
inline constexpr int kPlanSchema = 1;

// Pure. One line for each rank; ends with a newline; always valid UTF-8. A plan without
// workers, because none could be made, has no environment. `refusal` is why nothing
// would be started, without "ddprun: "; empty: it would be. A port of 0 and an empty run id of
// `meeting` are null, because they are chosen at the start. `parent` as for
// plan::WorkerEnvironment.
std::string plan_json(const plan::LaunchPlan& plan, const plan::Meeting& meeting,
                      const cli::Environment& parent, const std::string& refusal);

}  // namespace ddprun::report
