// Where the results for programs go: --report and --events.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "launcher/agent/agent.h"
#include "launcher/agent/job_events.h"
#include "launcher/output/output.h"
#include "launcher/report/json_report.h"

namespace ddprun::agent {

// What the report says of the job as a whole. `run_id` is empty where there is none yet.
report::JobRecord record_of(const cli::JobSpec& spec, const std::string& host,
                            const report::Timings& timings, const std::string& run_id);

// The cause of a job of which nothing was started, by its exit code: "refused", "exec_failed" or
// "cannot_work".
std::string_view cause_without_workers(int code);

// Writes `text` to the file of --report; to `print` where that is `-`. Returns why it could not be
// written; empty when all is well or no report was asked for.
std::string write_report(const cli::JobSpec& spec, const std::string& text,
                         const std::function<void(const std::string&)>& print);

// Opens the log of --events, if one was asked for. `output` is borrowed for `-`.
Result<void> open_events(const cli::JobSpec& spec, output::Output& output, JobEvents& events);

}  // namespace ddprun::agent
