#include <chrono>
#include <thread>
#include <utility>

#include "tests/bench/announcer.h"
#include "tests/bench/groups.h"
#include "tests/bench/silent_job.h"

namespace ddprun::bench {
namespace {

constexpr int kWorkers = 64;
constexpr int kAgents = 64;
constexpr int kSeconds = 2;
constexpr std::chrono::seconds kSettling{3};  // a server's last timer of a rendezvous
constexpr int kPingSeconds = 5;               // a server asks each agent once in that time

std::int64_t switches_of(const std::vector<pid_t>& pids) {
  std::int64_t sum = 0;
  for (const pid_t pid : pids) sum += context_switches(pid);
  return sum;
}

std::vector<double> rest(const Setup& setup) {
  SilentJob job(setup, ddprun_words(setup, kWorkers), kWorkers);
  const std::vector<pid_t> pids = job.own_processes();
  const std::int64_t before = switches_of(pids);
  std::this_thread::sleep_for(std::chrono::seconds(kSeconds));
  const std::int64_t during = switches_of(pids) - before;
  double megabytes = 0;
  for (const pid_t pid : pids) megabytes += pss_megabytes(pid);
  job.stop();
  return {static_cast<double>(during) / kSeconds, megabytes};
}

// torchrun's workers are its children, so it is one process.
std::vector<double> torchrun_memory(const Setup& setup) {
  SilentJob job(setup, torchrun_words(setup, kWorkers), kWorkers);
  const double megabytes = pss_megabytes(job.pid());
  job.kill_one();
  job.wait_for_end(1);
  return {megabytes};
}

// A server and the agents of so many nodes, all of which have workers and nothing to say.
std::vector<double> rest_of_server(const Setup& setup) {
  const Announcer server({setup.rdzvd, "--listen", "127.0.0.1:0"});
  const auto port = static_cast<int>(server.number());
  const Announcer agents({setup.agents, std::to_string(port), std::to_string(kAgents)});
  agents.number();
  std::this_thread::sleep_for(kSettling);
  const std::int64_t before = context_switches(server.pid());
  std::this_thread::sleep_for(std::chrono::seconds(kPingSeconds));
  const std::int64_t during = context_switches(server.pid()) - before;
  return {static_cast<double>(during) / kPingSeconds, pss_megabytes(server.pid())};
}

}  // namespace

std::vector<Block> idle_group(const Setup& setup) {
  const std::string memory = "memory (PSS, both processes), 64 silent workers";
  Probe probe{{{"wake-ups in a second, 64 silent workers", "", median_at_most(0)},
               {memory, "MB", median_at_most(8)}},
              [setup] { return rest(setup); },
              3};
  Probe torchrun{{{"memory (PSS), 64 silent workers: torchrun", "MB", {}, memory}},
                 [setup] { return torchrun_memory(setup); },
                 1,
                 no_torchrun(setup)};
  Probe server{{{"rdzvd: wake-ups in a second, 64 agents", "", median_at_most(1)},
                {"rdzvd: memory (PSS), 64 agents", "MB"}},
               [setup] { return rest_of_server(setup); },
               3,
               no_rdzvd(setup)};
  return {{"idle", {std::move(probe), std::move(torchrun)}}, {"idle", {std::move(server)}}};
}

}  // namespace ddprun::bench
