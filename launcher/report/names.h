// What the classes and causes are called where programs read them: in the JSON report and in
// events.
#pragma once

#include "launcher/supervise/outcome.h"

namespace ddprun::report {

// "worker_failed", "stop_signal", …
const char* name_of(supervise::Cause cause);
// "failed_first", "stopped", …
const char* name_of(supervise::Ending ending);

}  // namespace ddprun::report
