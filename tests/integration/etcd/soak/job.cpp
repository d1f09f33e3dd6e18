#include "tests/integration/etcd/soak/job.h"

#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::etcd_soak {
namespace {

// Longer than anything that is awaited.
constexpr std::chrono::seconds kLimit{180};

}  // namespace

Job::Job(std::string ddprun, const std::string& endpoints, std::uint64_t seed)
    : ddprun_(std::move(ddprun)),
      endpoints_(endpoints),
      seed_(seed),
      dice_(seed),
      elastic_(dice_.one_in(2)),
      failures_(1 + dice_.below(2)) {
  if (elastic_ && !dice_.one_in(4)) loses_node_ = kPhases[static_cast<std::size_t>(dice_.below(4))];
}

std::string Job::description() const {
  return "seed " + std::to_string(seed_) + ": " + (elastic_ ? "2:3" : "3") + " nodes, " +
         std::to_string(failures_) + " failures of workers" +
         (loses_node_ ? std::string(", a node lost while ") + name(*loses_node_) : "");
}

void Job::start_node(int number) {
  const std::string script = "echo up $TORCHELASTIC_RESTART_COUNT; while [ ! -e " +
                             (folder_ / "go") + " ]; do [ ! -e " + folder_.path() +
                             "/fail$TORCHELASTIC_RESTART_COUNT.$RANK ] || exit 7; sleep 0.05; done";
  nodes_.push_back(std::make_unique<test::Program>(
      test::Words{ddprun_,
                  "--nnodes",
                  elastic_ ? "2:3" : "3",
                  "--rdzv-backend",
                  "c10d",
                  "--rdzv-endpoint",
                  endpoints_,
                  "--rdzv-id",
                  "soak" + std::to_string(seed_),
                  "--rdzv-conf",
                  "keep_alive_interval=0.5,keep_alive_max_attempt=4,last_call_timeout=2,"
                  "reconnect_timeout=4",
                  "--max-restarts",
                  "3",
                  "--restart-backoff",
                  "0",
                  "-n",
                  "1",
                  "--",
                  "sh",
                  "-c",
                  script,
                  "node" + std::to_string(number)},
      test::RunOptions{.limit = kLimit}));
}

void Job::pause(int most) {
  std::this_thread::sleep_for(std::chrono::milliseconds(dice_.below(most)));
}

void Job::touch(const std::string& name) {
  std::ofstream(folder_ / name);
}

bool Job::all_say(const std::string& text) {
  for (const auto& node : nodes_)
    if (!node->wait_for_output(text)) return false;
  return true;
}

// The last one, at its phase, when it has been there for a moment or none.
void Job::lose_node(Phase phase) {
  if (loses_node_ != phase || nodes_.size() < kNodes) return;
  pause(phase == Phase::restarting || phase == Phase::ending ? 150 : 1'500);
  ::kill(nodes_.back()->pid(), SIGKILL);
  nodes_.pop_back();
  tally_.add("killed: node", phase);
}

bool Job::join() {
  for (int i = 0; i < kNodes; ++i) {
    start_node(i);
    pause(1'200);
  }
  lose_node(Phase::joining);
  return all_say("up 0\n");
}

bool Job::restart() {
  touch("fail" + std::to_string(failed_++) + "." + std::to_string(dice_.below(2)));
  lose_node(Phase::restarting);
  return all_say("up " + std::to_string(failed_) + "\n");
}

std::string Job::play(Chaos& chaos) {
  chaos.set_phase(Phase::joining);
  if (!join()) return "it did not begin" + finish();
  chaos.set_phase(Phase::running);
  lose_node(Phase::running);
  for (int i = 0; i < failures_; ++i) {
    pause(2'000);
    chaos.set_phase(Phase::restarting);
    if (!restart()) return "it did not restart" + finish();
    chaos.set_phase(Phase::running);
  }
  pause(2'000);
  chaos.set_phase(Phase::ending);
  touch("go");
  lose_node(Phase::ending);
  return finish();
}

// What was not to be.
std::string Job::finish() {
  touch("go");
  std::string wrong;
  const std::string over = "up " + std::to_string(failed_ + 1) + "\n";
  for (const auto& node : nodes_) {
    const test::Finished end = node->finish();
    if (end.timed_out || end.code != 0)
      wrong += "\na node ended with " + std::to_string(end.code) +
               (end.timed_out ? " after its limit" : "") + ":\n" + end.err;
    else if (end.out.find(over) != std::string::npos)
      wrong += "\nmore restarts were spent than workers have failed:\n" + end.err;
  }
  if (!test::nobody_has(folder_.path(), std::chrono::seconds(10))) wrong += "\na worker was left";
  return wrong;
}

}  // namespace ddprun::etcd_soak
