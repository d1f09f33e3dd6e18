#include <chrono>
#include <thread>

#include "tests/bench/groups.h"
#include "tests/bench/silent_job.h"

namespace ddprun::bench {
namespace {

constexpr int kWorkers = 64;
constexpr int kSeconds = 2;

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

}  // namespace

std::vector<Block> idle_group(const Setup& setup) {
  Probe probe{{{"wake-ups in a second, 64 silent workers", "", median_at_most(0)},
               {"memory (PSS, both processes), 64 silent workers", "MB", median_at_most(10)}},
              [setup] { return rest(setup); },
              3};
  return {{"idle", {std::move(probe)}}};
}

}  // namespace ddprun::bench
