// The life of the ddprun that the user has started with --hosts.
#pragma once

#include "launcher/cli/environment.h"
#include "launcher/cli/job_spec.h"
#include "launcher/cli/scanner.h"
#include "launcher/guardian/guardian.h"
#include "launcher/report/report.h"

namespace ddprun::relay {

// Starts a ddprun on each host of `spec`, shows what they write, passes signals on, and says how it
// all has ended; with --dry-run it shows what it would do. Blocks; call it from the main thread.
report::ExitDecision coordinate(const cli::Scan& scan, const cli::JobSpec& spec,
                                const cli::Environment& environment, guardian::Link link);

}  // namespace ddprun::relay
