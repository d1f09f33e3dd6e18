#include <signal.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "tests/bench/fail_nodes.h"
#include "tests/bench/groups.h"
#include "tests/bench/silent_job.h"

namespace ddprun::bench {
namespace {

// In all, and beyond the moment at which the last sibling ended.
std::vector<double> death_to_exit(const Setup& setup, int workers) {
  SilentJob job(setup, ddprun_words(setup, workers), workers);
  const std::int64_t death = job.kill_one();
  const std::int64_t end = job.wait_for_end(128 + SIGKILL);
  const std::int64_t siblings = last_end(job.stamps().lives());
  if (siblings == 0) throw std::runtime_error("no sibling of the dead worker ended cooperatively");
  return {milliseconds(death, end), milliseconds(siblings, end)};
}

std::vector<double> torchrun_death_to_exit(const Setup& setup, int workers) {
  SilentJob job(setup, torchrun_words(setup, workers), workers);
  const std::int64_t death = job.kill_one();
  return {milliseconds(death, job.wait_for_end(1))};
}

std::vector<double> death_to_next_attempt(const Setup& setup, int workers) {
  SilentJob job(setup, ddprun_words(setup, workers) + Words{"--max-restarts", "1"}, workers);
  const std::int64_t death = job.kill_one();
  const auto second = job.stamps().wait_for(static_cast<std::size_t>(workers), 1);
  job.stop();
  const auto first = job.stamps().lives(0);
  const double took = milliseconds(death, last_start(second));
  return {took, took - milliseconds(first_start(first), last_start(first))};
}

// Why there is nothing to measure; empty when a worker that fails in the first attempt only is
// restarted.
std::string no_restarts(const Setup& setup) {
  ObservedProcess ddprun(ddprun_words(setup, 1) + Words{"--max-restarts", "1"} +
                         Words{"/bin/sh", "-c", "exit $((1 - TORCHELASTIC_RESTART_COUNT))"});
  return ddprun.wait() == 0 ? "" : "this ddprun does not restart workers";
}

}  // namespace

std::vector<Block> fail_group(const Setup& setup) {
  std::vector<Block> blocks;
  for (const int workers : {2, 8, 64}) {
    const std::string name = "death of 1 of " + std::to_string(workers) + " to the end";
    Probe probe{{{name, "ms", median_at_most(10)},
                 {name + ", beyond the siblings' own", "ms", median_at_most(1)}},
                [setup, workers] { return death_to_exit(setup, workers); }};
    blocks.push_back({"fail", {std::move(probe)}});
  }
  Row torchrun{"death of 1 of 2 to the end: torchrun", "ms", {}, "death of 1 of 2 to the end"};
  blocks.front().probes.push_back({{std::move(torchrun)},
                                   [setup] { return torchrun_death_to_exit(setup, 2); },
                                   2,
                                   no_torchrun(setup)});
  for (Probe& probe : death_on_two_nodes(setup, "death of 1 of 2 to the end"))
    blocks.front().probes.push_back(std::move(probe));
  return blocks;
}

std::vector<Block> restart_group(const Setup& setup) {
  std::vector<Block> blocks;
  const std::string missing = no_restarts(setup);
  for (const int workers : {2, 8, 64}) {
    const std::string name = "death of 1 of " + std::to_string(workers) + " to all running again";
    Probe probe{{{name, "ms"}, {name + ", beyond their start", "ms", median_at_most(10)}},
                [setup, workers] { return death_to_next_attempt(setup, workers); }};
    probe.missing = missing;
    blocks.push_back({"restart", {std::move(probe)}});
  }
  for (Probe& probe : lost_node(setup, "death of 1 of 2 to all running again"))
    blocks.front().probes.push_back(std::move(probe));
  return blocks;
}

}  // namespace ddprun::bench
