// What ended a job on several nodes, as a node hears of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/supervise/outcome.h"

namespace ddprun::report {

struct RemoteCause {
  // One of the causes of docs/report.schema.json: "worker_failed", "node_lost", …
  std::string name;
  std::string text;  // one line that says all of it but the output
  int exit_code = 0;

  // With "worker_failed".
  struct Worker {
    int rank = 0;  // global
    int local_rank = 0;
    std::string host;
    supervise::WaitStatus status;
    std::string how = {};              // it failed, in its node's words; empty: `status` alone
    std::vector<int> absent = {};      // ranks that it had waited for (blame.h)
    std::vector<int> silent_too = {};  // ranks that made no progress either
  };
  std::optional<Worker> worker = {};
  std::vector<std::string> lines = {};  // the end of its output, oldest first, bytes as they came
};

}  // namespace ddprun::report
