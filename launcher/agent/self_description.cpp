#include "launcher/agent/self_description.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "launcher/cli/version.h"
#include "launcher/plan/command.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::agent {
namespace {

constexpr std::size_t kHashed = std::size_t{1} << 20;
constexpr std::uint64_t kSeed = 0xcbf29ce484222325U;

// FNV-1a, 64 bits.
std::uint64_t hash(std::uint64_t seed, const char* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    seed = (seed ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3U;
  return seed;
}

// The file that makes the difference: the script, where Python runs one.
std::string program_file(const Job& job) {
  const std::string& name = job.spec.command.front();
  if (plan::runs_python(job.spec)) return name;
  auto programs = Programs::in(job.spec.chdir, job.environment);
  return programs ? programs->find(name).path : "";
}

// Those that it would have: without a plan there is only the user's word. What the server would not
// take is the reason of a node that is unable, and that has to be told.
int number_of_workers(const Job& job) {
  const int planned = static_cast<int>(job.plan.workers.size());
  return std::clamp(std::max(planned, job.spec.workers.number), 1, protocol::kMaxWorkers);
}

std::string hex(std::uint64_t sum) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
  return text;
}

}  // namespace

std::string too_many_workers(const cli::JobSpec& spec, const plan::LaunchPlan& plan) {
  if (!spec.rendezvous.several_nodes() ||
      std::cmp_less_equal(plan.workers.size(), protocol::kMaxWorkers))
    return {};
  return "a job on several nodes has at most " + std::to_string(protocol::kMaxWorkers) +
         " workers on each, not " + std::to_string(plan.workers.size()) + "; write fewer with -n";
}

std::string program_checksum(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const auto size = static_cast<std::uint64_t>(info.st_size);
  std::uint64_t sum = hash(kSeed, reinterpret_cast<const char*>(&size), sizeof size);
  std::string buffer(std::min<std::size_t>(size, kHashed), '\0');
  const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
  sum = hash(sum, buffer.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  return hex(sum);
}

std::string arguments_checksum(const std::vector<std::string>& command) {
  std::uint64_t sum = kSeed;
  for (std::size_t i = 1; i < command.size(); ++i)
    sum = hash(sum, command[i].c_str(), command[i].size() + 1);
  return hex(sum);
}

protocol::Join join_of(const Job& job, const std::string& local_address,
                       const std::vector<std::string>& reachable) {
  const cli::RendezvousSpec& spec = job.spec.rendezvous;
  protocol::Join join{.run = spec.run_id.value,
                      .node = job.host,
                      .pid = ::getppid(),
                      .version = std::string(cli::version()),
                      .program = program_checksum(program_file(job)),
                      .arguments = arguments_checksum(job.spec.command),
                      .addresses = {local_address},
                      .nproc = number_of_workers(job),
                      .min_nodes = spec.min_nodes,
                      .max_nodes = spec.max_nodes,
                      .max_restarts = job.spec.max_restarts,
                      .static_ranks = spec.kind == cli::RendezvousSpec::Kind::fixed,
                      .grow = spec.conf.grow,
                      .join_timeout = spec.conf.join_timeout,
                      .last_call_timeout = spec.conf.last_call_timeout,
                      .reconnect_timeout = spec.conf.reconnect_timeout,
                      .keep_alive_interval = spec.conf.keep_alive_interval,
                      .keep_alive_max_attempt = spec.conf.keep_alive_max_attempt};
  for (const std::string& address : reachable)
    if (address != local_address) join.addresses.push_back(address);
  if (spec.local_addr) join.local_addr = spec.local_addr->value;
  if (spec.node_rank && join.static_ranks) join.node_rank = spec.node_rank->value;
  return join;
}

}  // namespace ddprun::agent
