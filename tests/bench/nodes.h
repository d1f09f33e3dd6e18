// A job of several nodes, as so many launchers on this machine that meet on loopback.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/observed_process.h"
#include "tests/bench/setup.h"
#include "tests/bench/stamps.h"

namespace ddprun::bench {

enum class Meeting {
  fixed,    // static: each node is given its rank
  arrival,  // c10d: ranks by arrival; the first command is told to host the server
};

// A port of 127.0.0.1 that nobody used a moment ago, and that the system gives to nobody soon.
std::string unused_port();

// The ddprun of each node of one job, one worker each, ready for options or a program. `nodes` is
// what --nnodes says; `count` nodes are started.
std::vector<Words> node_words(const Setup& setup, Meeting meeting, const std::string& nodes,
                              int count);
// torchrun's, by c10d.
std::vector<Words> torchrun_node_words(const Setup& setup, int count);

// Milliseconds from before the start of the first launcher until the last worker of all runs. The
// workers, one for each command, end by themselves, and each launcher must then end with 0.
double time_to_last_start(const Setup& setup, const std::vector<Words>& launchers);

// A job of one silent, cooperative worker on each node, which a probe then disturbs. Owns the
// launchers until it goes.
class SilentNodes {
 public:
  // Returns once `workers` of them run and the launchers have come to rest. More commands than
  // workers are spare nodes.
  SilentNodes(const Setup& setup, const std::vector<Words>& launchers, int workers);

  // Sends SIGKILL to the worker of this node and returns the time before that.
  std::int64_t kill_worker(int node);
  // Sends SIGKILL to the launcher of a node with a worker, but not to that of node 0, and returns
  // the time before that.
  std::int64_t kill_launcher();
  // The end of one node's ddprun, which must end with `code`, and the time at which it was seen.
  std::int64_t wait_for_end(int node, int code);
  // SIGTERM to the nodes that are left; waits for the end of all, whatever their exit codes.
  void stop();

  const Stamps& stamps() const { return stamps_; }

 private:
  int node_of(const Life& life) const;

  Stamps stamps_;
  std::vector<Words> commands_;
  std::vector<std::unique_ptr<ObservedProcess>> launchers_;
  std::vector<Life> lives_;
};

}  // namespace ddprun::bench
