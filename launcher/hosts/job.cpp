#include "launcher/hosts/job.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "launcher/cli/options.h"
#include "launcher/hosts/flow.h"
#include "launcher/hosts/read_hosts.h"
#include "launcher/hosts/remote_command.h"
#include "rendezvous/base/printable.h"

namespace ddprun::hosts {
namespace {

// A host that answers at all does so within this, slow login scripts included.
constexpr std::chrono::milliseconds kLongestSilence{60'000};
// More than nodes grant each other: here it may be a laptop that sleeps for a while.
constexpr int kPatienceWithUser = 4;
constexpr std::chrono::milliseconds kMostPatience = std::chrono::hours(24);

Result<std::vector<Host>> read_hosts(const cli::JobSpec& spec, const std::string& hostfile) {
  auto hosts = spec.hosts.list ? read_list(*spec.hosts.list) : read_hostfile(hostfile);
  if (hosts) hosts = each_once(std::move(*hosts));
  if (hosts) return hosts;
  const std::string file = spec.hosts.file ? " '" + *spec.hosts.file + "'" : "";
  return Error{spec.hosts.label + file + ": " + hosts.error().text};
}

std::string shown(const cli::JobSpec& spec) {
  return spec.hosts.label + (spec.hosts.label.starts_with("--") ? " " : "=") +
         spec.hosts.list.value_or(spec.hosts.file.value_or(""));
}

Result<void> check_numbers(const cli::JobSpec& spec, const std::vector<Host>& hosts) {
  const cli::RendezvousSpec& rendezvous = spec.rendezvous;
  if (!rendezvous.nodes_source.empty() && std::cmp_not_equal(rendezvous.max_nodes, hosts.size()))
    return Error{shown(spec) + " and " + rendezvous.nodes_source + " " +
                 std::to_string(rendezvous.max_nodes) + ": the list has " +
                 std::to_string(hosts.size()) + (hosts.size() == 1 ? " host" : " hosts") +
                 "; leave " + rendezvous.nodes_source + " out"};
  // Of hosts without a number it is --nproc-per-node's; where each has its own that would mean
  // nothing.
  const bool counts =
      !std::ranges::all_of(hosts, [](const Host& host) { return host.slots.has_value(); });
  if (counts || spec.workers.kind == cli::WorkerCount::Kind::unset) return {};
  const auto differs = std::ranges::find_if(hosts, [&](const Host& host) {
    return spec.workers.kind != cli::WorkerCount::Kind::number ||
           *host.slots != spec.workers.number;
  });
  if (differs == hosts.end()) return {};
  const std::string asked = spec.workers.kind == cli::WorkerCount::Kind::number
                                ? " " + std::to_string(spec.workers.number)
                                : "";
  return Error{"--nproc-per-node" + asked + " and " + text_of(*differs) +
               ": each host has a number of workers of its own, and -n (of each host, not of all "
               "together) is for those without; drop one of them"};
}

bool is_given(std::string_view name, const cli::Scan& scan, const cli::Environment& environment) {
  const cli::Option* option = cli::find_option(name);
  return environment.get(cli::variable_of(*option)) ||
         std::ranges::any_of(scan.options,
                             [&](const cli::Given& given) { return given.option == option; });
}

std::ptrdiff_t times_given(std::string_view name, const cli::Scan& scan) {
  return std::ranges::count_if(scan.options,
                               [&](const cli::Given& given) { return given.option->name == name; });
}

std::uint32_t longest_silence(const cli::RendezvousConf& conf) {
  const auto silence = conf.keep_alive_interval * conf.keep_alive_max_attempt * kPatienceWithUser;
  return static_cast<std::uint32_t>(
      std::clamp(silence, std::chrono::milliseconds(1), kMostPatience).count());
}

std::vector<std::string> command_of(const cli::Scan& scan) {
  std::vector<std::string> words = scan.command;
  if (scan.separator) words.insert(words.begin(), "--");
  return words;
}

std::string names_of(const std::vector<std::string>& entries) {
  std::string names;
  for (const std::string& entry : entries)
    names += (names.empty() ? "" : " ") + std::string(cli::variable_name(entry));
  return names;
}

std::string one_host(const Job& job, const Node& node, bool local) {
  const RemoteShell shell{job.order.shell_words, job.order.remote_ddprun, job.order.own_path};
  std::vector<std::string> words{"ddprun"};
  std::ranges::move(
      words_of_node(job.order.options, job.order.files, job.order.command, node.index, node.host),
      std::back_inserter(words));
  const std::string reached = local ? "this host" : hosts::shown(remote_command(shell, node.host));
  return "node " + std::to_string(node.index) + " on " + node.host.name + "\n  reached by  " +
         reached + "\n  there       " + hosts::shown(words) + "\n";
}

}  // namespace

Result<Job> make_job(const cli::Scan& scan, const cli::JobSpec& spec,
                     const cli::Environment& environment, const std::string& hostfile,
                     const Here& here) {
  for (const std::string_view name : {"hosts", "hostfile"})
    if (times_given(name, scan) > 1)
      return Error{"--" + std::string(name) + " is there twice; write one with all hosts"};
  const auto hosts = read_hosts(spec, hostfile);
  if (!hosts) return hosts.error();
  if (const auto right = check_numbers(spec, *hosts); !right) return right.error();
  auto passed = passed_environment(spec.hosts.exports, environment);
  if (!passed) return Error{"-x: " + passed.error().text};
  const cli::RendezvousConf& conf = spec.rendezvous.conf;
  Job job;
  for (const Host& host : *hosts) job.nodes.push_back({static_cast<int>(job.nodes.size()), host});
  job.order = {.version = here.version,
               .branch = {},
               .nodes = static_cast<int>(job.nodes.size()),
               .directory = here.directory,
               .options = options_for_nodes(scan, spec, here.console),
               .files = file_options(spec),
               .command = command_of(scan),
               .environment = std::move(*passed),
               .shell_words = spec.hosts.rsh,
               .remote_ddprun = spec.hosts.remote_ddprun,
               .own_path = here.own_path,
               .patience_ms =
                   static_cast<std::uint32_t>(std::min(conf.join_timeout, kLongestSilence).count()),
               .silence_ms = longest_silence(conf),
               .grace_ms = static_cast<std::uint32_t>(
                   std::min(spec.shutdown_timeout, kMostPatience).count()),
               .credit = credit_of_stream(static_cast<int>(job.nodes.size()))};
  job.ping_interval = conf.keep_alive_interval;
  job.endpoint_given =
      is_given("rdzv-endpoint", scan, environment) || is_given("master-addr", scan, environment);
  return job;
}

std::string dry_run_text(const Job& job, const std::vector<bool>& is_local) {
  std::string text;
  for (const Node& node : job.nodes)
    text += one_host(job, node, is_local.at(static_cast<std::size_t>(node.index)));
  return text + "in '" + printable(job.order.directory) +
         "', with the variables: " + names_of(job.order.environment) + "\n";
}

}  // namespace ddprun::hosts
