// The nodes of one job, as so many ddpruns on this host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/support/run.h"

namespace ddprun::test {

using Words = std::vector<std::string>;

// A port that nobody uses now, and nobody else gets from the kernel for a while.
std::string free_port();

// Starts ddprun with `options` and `command`.
std::unique_ptr<Program> start(const Words& options, const Words& command,
                               RunOptions run_options = {});

// A job with given node ranks on a port of its own.
class FixedJob {
 public:
  explicit FixedJob(int nodes, Words options = {}) : nodes_(nodes), options_(std::move(options)) {}

  // One more node, with `options` of its own.
  std::unique_ptr<Program> node(int rank, const Words& command, const Words& options = {}) const;
  const std::string& port() const { return port_; }

 private:
  int nodes_;
  Words options_;
  std::string port_ = free_port();
};

// A job by arrival, "2" or "1:3" nodes.
class ArrivalJob {
 public:
  explicit ArrivalJob(std::string nodes, Words options = {})
      : nodes_(std::move(nodes)), options_(std::move(options)) {}

  std::unique_ptr<Program> node(const Words& command, const Words& options = {}) const;
  const std::string& port() const { return port_; }

 private:
  std::string nodes_;
  Words options_;
  std::string port_ = free_port();
};

// sh -c `script`.
Words shell(const std::string& script);
// The first line that begins with `start`; empty without one.
std::string line_with(const std::string& text, const std::string& start);
// The launcher, which is the child of the guardian that the test has started.
pid_t launcher_of(const Program& ddprun);

}  // namespace ddprun::test
