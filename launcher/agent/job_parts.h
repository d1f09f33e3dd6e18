// What all rounds of a job have in common and what lives as long as the job.
#pragma once

#include <boost/asio/io_context.hpp>

#include "launcher/agent/agent.h"
#include "launcher/agent/job_events.h"
#include "launcher/agent/programs.h"
#include "launcher/agent/run_directory.h"
#include "launcher/agent/stdin_rank.h"
#include "launcher/output/output.h"
#include "launcher/process/spawn.h"

namespace ddprun::agent {

// Owned by NodeAgent, borrowed by each Round. One thread.
struct JobParts {
  boost::asio::io_context& io;
  const Job& job;
  output::Output& output;
  RunDirectory& directory;
  process::SpawnSettings spawn;
  Programs& programs;
  StdinRank& stdin_rank;
  const std::string& run_id;
  JobEvents& events;
  report::Timings timings;
};

}  // namespace ddprun::agent
