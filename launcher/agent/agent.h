// One node's life: the store listens, the workers start, the group is supervised, the report is
// written.
//
// The shell around supervise::Group: one thread, one io_context that waits for pidfds, pipes,
// signals and timers.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "launcher/agent/programs.h"
#include "launcher/agent/upstream.h"
#include "launcher/cli/environment.h"
#include "launcher/cli/job_spec.h"
#include "launcher/guardian/guardian.h"
#include "launcher/plan/launch_plan.h"
#include "launcher/report/json_report.h"
#include "launcher/report/report.h"

namespace ddprun::guard {
class Token;
}

namespace ddprun::agent {

// Why this node cannot start its workers, where that is known before it was tried.
struct Unable {
  int code = 0;      // exit code
  std::string text;  // for the user, without "ddprun: "; the others get the first line
};

struct Job {
  cli::JobSpec spec;
  plan::LaunchPlan plan;
  cli::Environment environment;  // the one ddprun was started with
  std::string host;
  Programs programs;
  guardian::Link link;
  report::Timings timings;  // what was over before
  // That the nodes and the server have to know; null: none.
  std::shared_ptr<const guard::Token> token = {};
  bool tls = false;  // the server and the stores are reached by TLS, with the files of the spec
  // With several nodes only: nothing is started, the plan may be without workers. This node joins
  // to tell the others, who would wait for it, and all end alike. What is known only then (that
  // --local-addr leads nowhere, that a rank is not one of this job) is put here as well.
  std::optional<Unable> unable = {};
  std::shared_ptr<Upstream> upstream = {};  // null unless ddprun was started by another one
};

// Runs the job to its end, with everything a user sees of it written, and says how ddprun has to
// end. Blocks; call it from the main thread, with the signals of guardian::handled_signals()
// blocked.
report::ExitDecision run(Job job);

// Where the store of a job on one node listens and where its workers find it: a loopback address
// that the user names is kept, everything else is 127.0.0.1, because nobody else can need it.
std::string store_address(const cli::JobSpec& spec);

}  // namespace ddprun::agent
