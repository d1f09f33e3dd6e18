// From the words of the command line to the end of the job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/guardian/guardian.h"
#include "launcher/report/report.h"

namespace ddprun {

// Reads the command line, looks at the devices, makes the plan, and shows it (--dry-run) or carries
// it out. Everything that the user has to see is written when it returns.
// `token` is the value that RDZV_TOKEN had; it is not in `environment` any more.
report::ExitDecision launch(const std::vector<std::string>& words, cli::Environment environment,
                            std::optional<std::string> token, guardian::Link link);

}  // namespace ddprun
