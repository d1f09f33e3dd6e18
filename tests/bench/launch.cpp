#include <algorithm>
#include <string>

#include "tests/bench/groups.h"
#include "tests/bench/system_calls.h"

namespace ddprun::bench {
namespace {

const Words kTrue{"/bin/true"};

struct Size {
  int workers;
  double limit;  // times the floor
  int most_rounds;
  int torchrun_rounds;  // 0: not with torchrun, whose workers are too slow for it
};

constexpr Size kSizes[] = {
    {2, 2.0, 1000, 3}, {8, 1.6, 1000, 2}, {64, 1.3, 1000, 0}, {512, 1.3, 7, 0}};

Probe timed(Row row, Words command, int most_rounds) {
  return {{std::move(row)}, [command] { return std::vector{time_of(command)}; }, most_rounds};
}

Block start_and_end(const Setup& setup, const Size& size) {
  const std::string n = std::to_string(size.workers);
  const std::string ours = "ddprun -n " + n + " /bin/true",
                    floor = "spawn_floor " + n + " /bin/true";
  Block block{"launch", {}};
  block.probes.push_back(timed({floor, "ms"}, Words{setup.floor, n} + kTrue, size.most_rounds));
  block.probes.push_back(timed({ours, "ms", ratio_at_most(size.limit), floor},
                               ddprun_words(setup, size.workers) + kTrue, size.most_rounds));
  if (size.torchrun_rounds == 0) return block;
  const Goal goal = size.workers == 2 ? ratio_at_least(100) : Goal{};
  block.probes.push_back(timed({"torchrun --nproc-per-node " + n + " /bin/true", "ms", goal, ours},
                               torchrun_words(setup, size.workers) + kTrue, size.torchrun_rounds));
  block.probes.back().missing = no_torchrun(setup);
  return block;
}

Block last_running(const Setup& setup, const Size& size) {
  const std::string n = std::to_string(size.workers), peer = "spawn_floor " + n + ": all run";
  const auto probe = [&](Row row, Words command) {
    command = command + Words{setup.worker, "end"};
    return Probe{{std::move(row)},
                 [command, size] { return std::vector{time_to_last_start(command, size.workers)}; },
                 size.most_rounds};
  };
  return {
      "launch",
      {probe({peer, "ms"}, {setup.floor, n}),
       probe({"ddprun -n " + n + ": all run", "ms", {}, peer}, ddprun_words(setup, size.workers))}};
}

Block calls(const Setup& setup) {
  const auto probe = [&](Row row, std::function<Words(int)> command) {
    Probe made{{std::move(row)},
               [command] { return std::vector{calls_per_worker(command(2), command(34), 32)}; },
               1};
    made.missing = why_no_system_calls();
    return made;
  };
  const std::string peer = "spawn_floor: system calls for a worker";
  return {"launch",
          {probe({peer, ""},
                 [setup](int n) {
                   return Words{setup.floor, std::to_string(n)} + kTrue;
                 }),
           probe({"ddprun: system calls for a worker", "", {}, peer},
                 [setup](int n) { return ddprun_words(setup, n) + kTrue; })}};
}

}  // namespace

std::vector<Block> launch_group(const Setup& setup) {
  std::vector<Block> blocks;
  for (const Size& size : kSizes)
    if (size.workers <= setup.most_workers) blocks.push_back(start_and_end(setup, size));
  for (const Size& size : kSizes)
    if (size.workers <= setup.most_workers) blocks.push_back(last_running(setup, size));
  blocks.push_back(calls(setup));
  return blocks;
}

std::vector<Block> baseline_group(const Setup& setup) {
  std::vector<Block> blocks;
  if (setup.baseline.empty()) return blocks;
  for (const int workers : {1, 2, 8, 64}) {
    const std::string n = std::to_string(workers), peer = "baseline -n " + n + " /bin/true";
    blocks.push_back(
        {"baseline",
         {timed({peer, "ms"}, ddprun_words(setup.with_baseline(), workers) + kTrue, 1000),
          timed({"ddprun -n " + n + " /bin/true", "ms", ratio_at_most(1.05), peer},
                ddprun_words(setup, workers) + kTrue, 1000)}});
  }
  return blocks;
}

}  // namespace ddprun::bench
