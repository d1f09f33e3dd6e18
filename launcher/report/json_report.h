// The report for programs: --report FILE. Its schema is docs/report.schema.json.
//
// Pure: the same facts give the same text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/report/report.h"
#include "launcher/report/wall_clock.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::report {

// Raised when a field changes its meaning or goes; new fields do not raise it.
inline constexpr int kReportSchema = 1;

// When each phase of a job was over. None: the job did not get there.
struct Timings {
  supervise::Time begun{};                 // ddprun was started
  std::optional<supervise::Time> parsed;   // the command line was read
  std::optional<supervise::Time> planned;  // the devices were found, the plan made
  std::optional<supervise::Time> store_listening;
  supervise::Time ended{};  // the last worker and its output were gone
};

// What the report says of the job as a whole, beside Outcome and Facts.
struct JobRecord {
  std::string version;               // of ddprun
  std::string run_id;                // empty when there was none yet
  std::vector<std::string> command;  // PROGRAM and its arguments
  std::string host;
  WallClock clock;
  Timings timings;
};

// The report of a job that was started. One line for each rank; ends with a newline. Always valid
// UTF-8: other bytes are shown as \xNN.
std::string json_report(const supervise::Outcome& outcome, const Facts& facts, const JobRecord& job,
                        const ExitDecision& end);

// The report of a job of which nothing was started here. `cause` is "refused" or the like, and
// "success" of a spare that was not needed; `message` is what stderr says, without "ddprun: ".
std::string json_refusal(const JobRecord& job, std::string_view cause, std::string_view message,
                         const ExitDecision& end);

}  // namespace ddprun::report
