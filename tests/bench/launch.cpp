#include <algorithm>
#include <string>

#include "tests/bench/groups.h"
#include "tests/bench/peers.h"
#include "tests/bench/system_calls.h"

namespace ddprun::bench {
namespace {

const Words kTrue{"/bin/true"};

struct Size {
  int workers;
  double limit;  // times the floor
  int most_rounds;
  int peer_rounds, torchrun_rounds;
};

constexpr Size kSizes[] = {
    {2, 2.0, 1000, 1000, 3}, {8, 1.6, 1000, 1000, 2}, {64, 1.3, 1000, 7, 2}, {512, 1.3, 7, 2, 1}};

Probe timed(Row row, Words command, int most_rounds) {
  return {{std::move(row)}, [command] { return std::vector{time_of(command)}; }, most_rounds};
}

Probe timed(Row row, const PeerLauncher& peer, int workers, int most_rounds) {
  return {{std::move(row)},
          [peer, workers] { return std::vector{time_of(peer.command(workers) + kTrue)}; },
          most_rounds,
          peer.missing};
}

// Against both floors, which is the same figure twice.
Probe own_start_and_end(const Setup& setup, const Size& size, const std::string& name,
                        const std::string& floor, const std::string& duties) {
  const Words command = ddprun_words(setup, size.workers) + kTrue;
  return {{{name, "ms", ratio_at_most(size.limit), floor},
           {name + ", against spawn_duties", "ms", ratio_at_most(1.2), duties}},
          [command] { return std::vector(2, time_of(command)); },
          size.most_rounds};
}

Block start_and_end(const Setup& setup, const Size& size, const std::vector<PeerLauncher>& peers,
                    const std::vector<PeerLauncher>& torchruns) {
  const std::string n = std::to_string(size.workers);
  const std::string ours = "ddprun -n " + n + " /bin/true",
                    floor = "spawn_floor " + n + " /bin/true",
                    duties = "spawn_duties " + n + " /bin/true";
  Block block{"launch",
              {timed({floor, "ms"}, Words{setup.floor, n} + kTrue, size.most_rounds),
               timed({duties, "ms", {}, floor}, Words{setup.duties, n} + kTrue, size.most_rounds),
               own_start_and_end(setup, size, ours, floor, duties)}};
  for (const PeerLauncher& peer : peers)
    block.probes.push_back(
        timed({peer.name + " -n " + n + " /bin/true", "ms", ratio_at_least(1), ours}, peer,
              size.workers, size.peer_rounds));
  const Goal goal = ratio_at_least(size.workers == 2 ? 100 : 1);
  for (const PeerLauncher& torchrun : torchruns)
    block.probes.push_back(
        timed({torchrun.name + " --nproc-per-node " + n + " /bin/true", "ms", goal, ours}, torchrun,
              size.workers, size.torchrun_rounds));
  return block;
}

Probe all_run(const Setup& setup, Row row, std::function<Words(int)> command, int workers,
              int most_rounds, std::string missing = {}) {
  return {{std::move(row)},
          [command = std::move(command), workers, program = Words{setup.worker, "end"}] {
            return std::vector{time_to_last_start(command(workers) + program, workers)};
          },
          most_rounds,
          std::move(missing)};
}

Block last_running(const Setup& setup, const Size& size, const std::vector<PeerLauncher>& peers,
                   const PeerLauncher& torchrun) {
  const std::string n = std::to_string(size.workers), floor = "spawn_floor " + n + ": all run",
                    ours = "ddprun -n " + n + ": all run";
  const auto floor_words = [setup](int workers) {
    return Words{setup.floor, std::to_string(workers)};
  };
  const auto own_words = [setup](int workers) { return ddprun_words(setup, workers); };
  Block block{"launch",
              {all_run(setup, {floor, "ms"}, floor_words, size.workers, size.most_rounds),
               all_run(setup, {ours, "ms", {}, floor}, own_words, size.workers, size.most_rounds)}};
  for (const PeerLauncher& peer : peers)
    block.probes.push_back(all_run(setup, {peer.name + " -n " + n + ": all run", "ms", {}, ours},
                                   peer.command, size.workers, size.peer_rounds, peer.missing));
  if (size.workers == 2)
    block.probes.push_back(all_run(setup, {torchrun.name + " 2: all run", "ms", {}, ours},
                                   torchrun.command, 2, size.torchrun_rounds, torchrun.missing));
  return block;
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
  const std::vector<PeerLauncher> peers = peer_launchers(), torches = torchruns(setup);
  for (const Size& size : kSizes)
    if (size.workers <= setup.most_workers)
      blocks.push_back(start_and_end(setup, size, peers, torches));
  for (const Size& size : kSizes)
    if (size.workers <= setup.most_workers)
      blocks.push_back(last_running(setup, size, peers, torches.front()));
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
