#include "launcher/agent/results.h"

#include <utility>

#include "launcher/cli/version.h"
#include "launcher/process/exit_codes.h"
#include "launcher/report/output_file.h"

namespace ddprun::agent {
namespace {

constexpr std::string_view kStdout = "-";

}  // namespace

report::JobRecord record_of(const cli::JobSpec& spec, const std::string& host,
                            const report::Timings& timings, const std::string& run_id) {
  report::JobRecord record{.version = std::string(cli::version()),
                           .run_id = run_id,
                           .command = spec.command,
                           .host = host,
                           .clock = report::WallClock::now(),
                           .timings = timings};
  record.timings.ended = record.clock.steady;
  return record;
}

std::string_view cause_without_workers(int code) {
  if (code == process::kExitRefused) return "refused";
  const bool exec = code == process::kExitNotFound || code == process::kExitNotExecutable;
  return exec ? "exec_failed" : "cannot_work";
}

std::string write_report(const cli::JobSpec& spec, const std::string& text,
                         const std::function<void(const std::string&)>& print) {
  if (!spec.report) return {};
  if (*spec.report == kStdout) {
    print(text);
    return {};
  }
  const auto written = report::replace_file("--report", *spec.report, text);
  return written ? std::string() : written.error().text;
}

Result<void> open_events(const cli::JobSpec& spec, output::Output& output, JobEvents& events) {
  if (!spec.events) return {};
  const auto clock = report::WallClock::now();
  if (*spec.events == kStdout) {
    events.write_to({[&output](const std::string& line) { output.print(line); }, clock});
    return {};
  }
  auto log = report::EventLog::open(*spec.events, clock);
  if (!log) return log.error();
  events.write_to(std::move(*log));
  return {};
}

}  // namespace ddprun::agent
