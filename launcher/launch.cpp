#include "launcher/launch.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>
#include <variant>

#include "launcher/agent/agent.h"
#include "launcher/agent/results.h"
#include "launcher/agent/self_description.h"
#include "launcher/agent/tls_files.h"
#include "launcher/agent/upstream.h"
#include "launcher/cli/parse.h"
#include "launcher/cli/scanner.h"
#include "launcher/doctor/look.h"
#include "launcher/doctor/verdict.h"
#include "launcher/dry_run.h"
#include "launcher/hosts/remote_command.h"
#include "launcher/plan/line_buffer.h"
#include "launcher/plan/make.h"
#include "launcher/plan/node.h"
#include "launcher/process/exit_codes.h"
#include "launcher/relay/coordinator.h"
#include "launcher/relay/outpost.h"
#include "launcher/report/output_file.h"
#include "rendezvous/guard/token.h"

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

report::ExitDecision show(const cli::Exit& exit) {
  write_all(STDOUT_FILENO, exit.out);
  write_all(STDERR_FILENO, exit.err);
  return {.code = exit.code};
}

report::ExitDecision refuse(const std::string& text) {
  write_all(STDERR_FILENO, "ddprun: " + text + "\n");
  return {.code = process::kExitRefused};
}

// What is known when a job is refused after its command line was read.
struct Start {
  const cli::JobSpec& spec;
  const cli::Environment& environment;
  std::string host;
  report::Timings timings;
};

// Says why nothing was started, on stderr and to --report.
report::ExitDecision refuse(const Start& start, const agent::Unable& why) {
  if (start.spec.dry_run)
    return show(dry_run_without_plan(start.spec, start.host, start.environment, why.text));
  report::ExitDecision end = refuse(why.text);
  end.code = why.code;
  const std::string failed =
      agent::write_report(start.spec,
                          json_refusal(agent::record_of(start.spec, start.host, start.timings, ""),
                                       agent::cause_without_workers(why.code), why.text, end),
                          [](const std::string& report) { write_all(STDOUT_FILENO, report); });
  if (!failed.empty()) refuse(failed);
  return end;
}

// A job that needs all its nodes waits for this one, whatever keeps it from starting its workers;
// one that can do with fewer is not to be disturbed.
bool others_wait(const cli::JobSpec& spec) {
  const cli::RendezvousSpec& rendezvous = spec.rendezvous;
  return !spec.dry_run && rendezvous.several_nodes() &&
         rendezvous.min_nodes == rendezvous.max_nodes;
}

// Whether the report can be written, said before anything is started. The path is made absolute:
// it means a file as seen from here, whatever --chdir says.
Result<void> prepare_report(cli::JobSpec& spec) {
  if (!spec.report || *spec.report == "-") return {};
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(*spec.report, ignored);
  if (!ignored) spec.report = absolute.string();
  return report::check_replaceable("--report", *spec.report);
}

cli::Exit examine_machine(const cli::JobSpec& spec, const cli::Environment& environment) {
  const doctor::Facts facts = doctor::look(spec, environment);
  const std::vector<doctor::Finding> findings = doctor::examine(facts);
  cli::Exit exit{doctor::exit_code(findings), "", ""};
  const std::string failed = agent::write_report(spec, doctor::json_text(facts, findings),
                                                 [&](const std::string& text) { exit.out = text; });
  if (!failed.empty()) return {process::kExitRefused, "", "ddprun: " + failed + "\n"};
  if (exit.out.empty()) exit.out = doctor::text(facts, findings);
  return exit;
}

// One node meets nobody.
Result<std::shared_ptr<const guard::Token>> token_of(const cli::RendezvousSpec& spec,
                                                     const std::optional<std::string>& variable) {
  if (!spec.several_nodes()) return std::shared_ptr<const guard::Token>();
  return guard::Token::find(spec.token_file ? std::optional(spec.token_file->value) : std::nullopt,
                            variable);
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
                            std::optional<std::string> token, guardian::Link link) {
  if (words.size() == 1 && words.front() == hosts::kStartedByHosts)
    return relay::serve(environment, std::move(link));
  report::Timings timings{.begun = std::chrono::steady_clock::now()};
  auto parsed = cli::parse(words, environment);
  if (const auto* exit = std::get_if<cli::Exit>(&parsed)) return show(*exit);
  auto& spec = std::get<cli::JobSpec>(parsed);
  if (spec.doctor) return show(examine_machine(spec, environment));
  if (spec.hosts.asked() && token)
    return refuse(
        "RDZV_TOKEN is not handed to other hosts; put the token into a file that each of "
        "them has, and give --token-file FILE");
  if (spec.hosts.asked())
    return relay::coordinate(*cli::scan(words), spec, environment, std::move(link));
  timings.parsed = std::chrono::steady_clock::now();
  if (const auto writable = prepare_report(spec); !writable) return refuse(writable.error().text);
  if (spec.rendezvous.several_nodes()) spec.rendezvous.token_variable = token.has_value();
  auto upstream = agent::Upstream::of(environment);
  const devices::NodeGpus gpus = plan::node_gpus(spec, environment);
  plan::Node node = plan::this_node(environment);
  node.machine = plan::machine_of(spec, gpus, environment);
  auto plan = plan::make(spec, gpus, plan::visible_gpus(spec, gpus, environment), node);
  timings.planned = std::chrono::steady_clock::now();
  const Start start{spec, environment, node.host, timings};
  const auto secret = token_of(spec.rendezvous, token);
  if (!secret) return refuse(start, {process::kExitRefused, secret.error().text});
  if (const auto tls = agent::check_tls(spec.rendezvous); !tls)
    return refuse(start, {process::kExitRefused, tls.error().text});
  std::optional<agent::Unable> unable;
  if (!plan) unable = {process::kExitRefused, plan.error().text};
  if (plan)
    if (const auto why = agent::too_many_workers(spec, *plan); !why.empty())
      unable = {process::kExitRefused, why};
  if (plan && spec.line_buffer) environment = write_line_by_line(environment, *plan);
  auto programs = agent::Programs::in(spec.chdir, environment);
  if (!unable && !programs) unable = {process::kExitRefused, programs.error().text};
  if (!unable && spec.dry_run) return show(dry_run(spec, *plan, environment, *programs));
  if (!unable)
    if (const auto why = cannot_start(spec, *plan, *programs)) unable = {why->code, why->text};
  if (unable && !others_wait(spec)) return refuse(start, *unable);
  if (!plan) plan = plan::without_workers(spec, node.host);
  if (!programs) programs = agent::Programs::in({}, environment);
  const bool tls = agent::uses_tls(spec.rendezvous);
  return agent::run({.spec = std::move(spec),
                     .plan = std::move(*plan),
                     .environment = std::move(environment),
                     .host = node.host,
                     .programs = std::move(*programs),
                     .link = std::move(link),
                     .timings = timings,
                     .token = *secret,
                     .tls = tls,
                     .unable = std::move(unable),
                     .upstream = std::move(upstream)});
}

}  // namespace ddprun
