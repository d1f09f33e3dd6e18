#include "tests/bench/nodes.h"

#include <signal.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "launcher/process/children.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::bench {
namespace {

std::vector<std::unique_ptr<ObservedProcess>> start_all(const std::vector<Words>& commands) {
  std::vector<std::unique_ptr<ObservedProcess>> started;
  started.reserve(commands.size());
  for (const Words& command : commands)
    started.push_back(std::make_unique<ObservedProcess>(command));
  return started;
}

std::vector<Words> with_program(std::vector<Words> launchers, const Words& program) {
  for (Words& launcher : launchers) launcher = std::move(launcher) + program;
  return launchers;
}

}  // namespace

std::string unused_port() {
  const test::LoopbackPort port;
  return std::to_string(port.number());
}

std::vector<Words> node_words(const Setup& setup, Meeting meeting, const std::string& nodes,
                              int count) {
  const std::string port = unused_port();
  std::vector<Words> launchers;
  for (int node = 0; node < count; ++node) {
    Words place;
    if (meeting == Meeting::fixed) {
      place = {"--node-rank", std::to_string(node), "--master-addr",
               "127.0.0.1",   "--master-port",      port};
    } else {
      place = {"--rdzv-backend",    "c10d",        "--rdzv-endpoint",
               "127.0.0.1:" + port, "--rdzv-conf", node == 0 ? "is_host=true" : "is_host=false"};
    }
    launchers.push_back(ddprun_words(setup, 1) + Words{"--nnodes", nodes} + place);
  }
  return launchers;
}

std::vector<Words> torchrun_node_words(const Setup& setup, int count) {
  const std::string endpoint = "127.0.0.1:" + unused_port();
  const Words launcher{setup.python,
                       "-m",
                       "torch.distributed.run",
                       "--nnodes",
                       std::to_string(count),
                       "--nproc-per-node",
                       "1",
                       "--rdzv-backend",
                       "c10d",
                       "--rdzv-endpoint",
                       endpoint,
                       "--rdzv-id",
                       "bench",
                       "--no-python"};
  return std::vector<Words>(static_cast<std::size_t>(count), launcher);
}

double time_to_last_start(const Setup& setup, const std::vector<Words>& launchers) {
  const std::vector<Words> commands = with_program(launchers, {setup.worker, "end"});
  const Stamps stamps;
  const std::int64_t start = now_ns();
  const auto started = start_all(commands);
  for (std::size_t i = 0; i < started.size(); ++i) expect_code(started[i]->wait(), 0, commands[i]);
  return milliseconds(start, last_start(stamps.wait_for(launchers.size())));
}

SilentNodes::SilentNodes(const Setup& setup, const std::vector<Words>& launchers, int workers)
    : commands_(with_program(launchers, {setup.worker, "silent"})),
      launchers_(start_all(commands_)),
      lives_(stamps_.wait_for(static_cast<std::size_t>(workers))) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// A worker is the child of a launcher, and that of the guardian that was started here.
int SilentNodes::node_of(const Life& life) const {
  const pid_t guardian = process::parent_of(process::parent_of(life.pid));
  for (std::size_t node = 0; node < launchers_.size(); ++node)
    if (launchers_[node]->pid() == guardian) return static_cast<int>(node);
  throw std::runtime_error("worker " + std::to_string(life.pid) + " is on no node");
}

std::int64_t SilentNodes::kill_worker(int node) {
  for (const Life& life : lives_) {
    if (node_of(life) != node) continue;
    const std::int64_t before = now_ns();
    ::kill(life.pid, SIGKILL);
    return before;
  }
  throw std::runtime_error("no worker on node " + std::to_string(node));
}

std::int64_t SilentNodes::kill_launcher() {
  for (const Life& life : lives_) {
    if (node_of(life) == 0) continue;
    const pid_t launcher = process::parent_of(life.pid);
    if (launcher <= 0) break;  // 0 is the whole process group
    const std::int64_t before = now_ns();
    ::kill(launcher, SIGKILL);
    return before;
  }
  throw std::runtime_error("no worker with a launcher but that of node 0");
}

std::int64_t SilentNodes::wait_for_end(int node, int code) {
  const auto index = static_cast<std::size_t>(node);
  const int ended_with = launchers_[index]->wait();
  const std::int64_t now = now_ns();
  expect_code(ended_with, code, commands_[index]);
  return now;
}

void SilentNodes::stop() {
  for (const auto& launcher : launchers_)
    if (launcher->pid() != 0) ::kill(launcher->pid(), SIGTERM);
  for (const auto& launcher : launchers_)
    if (launcher->pid() != 0) launcher->wait();
}

}  // namespace ddprun::bench
