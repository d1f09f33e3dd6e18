// The life of a ddprun that another one has started through a remote shell.
#pragma once

#include "launcher/cli/environment.h"
#include "launcher/guardian/guardian.h"
#include "launcher/report/report.h"

namespace ddprun::relay {

// Reads its orders from stdin and tells on stdout what happens (hosts/messages.h): runs the ddprun
// of this node, and starts those of its branch. The end of stdin is the end of whoever has started
// it, and stops them all. Blocks; call it from the main thread.
report::ExitDecision serve(const cli::Environment& environment, guardian::Link link);

}  // namespace ddprun::relay
