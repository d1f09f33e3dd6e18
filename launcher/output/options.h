// What is asked of the output of one node's workers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"
#include "launcher/output/stream_plan.h"

namespace ddprun::output {

struct Options {
  int local_workers = 1;  // on this node
  int world_size = 1;  // in the job; on a terminal lines carry prefixes when there is more than one
  int stdout_fd = 1;   // borrowed, must stay open
  int stderr_fd = 2;
  const char* no_color = nullptr;  // getenv("NO_COLOR")
  const char* term = nullptr;      // getenv("TERM")
  Routing routing;  // which streams go where; its filter_out and filter_err are not read
  std::optional<std::string> prefix;  // template; "": no prefix; none: kDefaultPrefix
  bool prefix_where_usual = false;    // `prefix` does not ask for prefixes where there are none
  std::vector<std::string> stdout_filters;  // texts; a line with any of them is duplicated
  std::vector<std::string> stderr_filters;
  cli::ColorChoice color = cli::ColorChoice::automatic;
  std::string role_name = "default";  // for templates
  std::string hostname;
};

// Which worker's streams are opened, and where its files go.
struct WorkerPlace {
  int rank = 0;
  int local_rank = 0;  // below Options::local_workers
  int attempt = 0;
  std::string directory;  // LOG_DIR/RUN/attempt_N/RANK, which exists; empty: there are no files
};

}  // namespace ddprun::output
