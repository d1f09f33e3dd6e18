// A job on several hosts: all that is known before anybody is asked to start.
//
// Pure, but for what is in `Here`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/cli/job_spec.h"
#include "launcher/cli/scanner.h"
#include "launcher/hosts/messages.h"
#include "launcher/hosts/passed.h"
#include "rendezvous/base/result.h"

namespace ddprun::hosts {

// What is known of this machine and of the user's terminal.
struct Here {
  std::string version;
  std::string directory;  // where the user is
  std::string own_path;   // of this ddprun
  Console console;
};

struct Job {
  std::vector<Node> nodes;
  Start order;                  // for all; its branch is empty
  bool endpoint_given = false;  // the options say where the nodes meet
  std::chrono::milliseconds ping_interval{0};
};

// `hostfile`: the text of --hostfile, empty without one. The Error is for the user, with the option
// in front: a list that is none, numbers that contradict each other, a variable that is not set.
Result<Job> make_job(const cli::Scan& scan, const cli::JobSpec& spec,
                     const cli::Environment& environment, const std::string& hostfile,
                     const Here& here);

// --dry-run: for each host the command that reaches it, ddprun's words there, and the names of the
// variables that go there. `is_local`: which are this host.
std::string dry_run_text(const Job& job, const std::vector<bool>& is_local);

}  // namespace ddprun::hosts
