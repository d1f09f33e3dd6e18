#include "launcher/launch.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "launcher/agent/agent.h"
#include "launcher/cli/parse.h"
#include "launcher/plan/command.h"
#include "launcher/plan/dry_run.h"
#include "launcher/plan/line_buffer.h"
#include "launcher/plan/make.h"
#include "launcher/plan/node.h"
#include "launcher/process/exit_codes.h"

namespace ddprun {
namespace {

// For the few texts that come before or instead of a job; a job writes through output::Output.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) {
      pollfd writable{fd, POLLOUT, 0};
      ::poll(&writable, 1, -1);
      continue;
    }
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

report::ExitDecision refuse(const std::string& text, int code = process::kExitRefused) {
  write_all(STDERR_FILENO, "ddprun: " + text + "\n");
  return {.code = code};
}

// Why the program could not be started, as far as that can be told without doing it. Python itself
// would say of a missing script what it likes, and end with 2.
std::optional<report::ExecFailure> cannot_start(const cli::JobSpec& spec,
                                                const plan::LaunchPlan& plan,
                                                const cli::Environment& environment) {
  const std::string& script = spec.command.front();
  if (plan::runs_python(spec) && !spec.module && ::access(script.c_str(), R_OK) != 0)
    return report::ExecFailure{report::exec_failure_code(errno),
                               "cannot start '" + script + "': " + ::strerror(errno)};
  return agent::cannot_execute(plan.workers.front().argv.front(), environment);
}

std::string dry_run_table(const plan::LaunchPlan& plan, const cli::JobSpec& spec,
                          const cli::Environment& environment) {
  const plan::Meeting meeting{.master_addr = agent::store_address(spec),
                              .master_port = spec.master_port.value_or(0)};
  return plan::dry_run_table(plan, meeting, environment);
}

cli::Environment write_line_by_line(const cli::Environment& environment, plan::LaunchPlan& plan) {
  const std::string library = plan::find_stdbuf_library();
  if (library.empty())
    plan.notices.push_back(
        "--line-buffer: libstdbuf.so of coreutils is not there, so only Python programs flush each "
        "line");
  return plan::line_buffered(environment, library);
}

}  // namespace

report::ExitDecision launch(const std::vector<std::string>& words, cli::Environment environment,
                            guardian::Link link) {
  auto parsed = cli::parse(words, environment);
  if (const auto* exit = std::get_if<cli::Exit>(&parsed)) {
    write_all(STDOUT_FILENO, exit->out);
    write_all(STDERR_FILENO, exit->err);
    return {.code = exit->code};
  }
  auto& spec = std::get<cli::JobSpec>(parsed);
  if (spec.doctor) return refuse("--doctor is not available yet in this version of ddprun");
  const devices::NodeGpus gpus = plan::node_gpus(spec, environment);
  plan::Node node = plan::this_node(environment);
  node.machine = plan::machine_of(spec, gpus, environment);
  auto plan = plan::make(spec, gpus, plan::visible_gpus(spec, gpus, environment), node);
  if (!plan) return refuse(plan.error().text);
  if (spec.line_buffer) environment = write_line_by_line(environment, *plan);
  if (spec.dry_run) write_all(STDOUT_FILENO, dry_run_table(*plan, spec, environment));
  if (const auto why = cannot_start(spec, *plan, environment))
    return refuse(why->text, spec.dry_run ? process::kExitRefused : why->code);
  if (spec.dry_run) return {};
  return agent::run({.spec = std::move(spec),
                     .plan = std::move(*plan),
                     .environment = std::move(environment),
                     .host = node.host,
                     .link = std::move(link)});
}

}  // namespace ddprun
