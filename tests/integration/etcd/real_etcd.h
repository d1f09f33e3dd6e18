// Three real members of etcd on loopback, in a folder of their own, on ports of the system's
// choice.
#pragma once

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/support/run.h"

namespace ddprun::test {

class RealEtcd {
 public:
  static constexpr int kMembers = 3;

  // Why there can be none on this machine; empty: there can.
  static std::string why_not();

  // Starts all of them, with `options` besides. Each lives for `limit` at most.
  explicit RealEtcd(std::chrono::seconds limit = std::chrono::seconds(300),
                    std::vector<std::string> options = {});

  // Whether all those that run answer, and have a leader; waits for it.
  bool is_healthy() const;
  // The present leader's number; -1 while there is none.
  int leader() const;
  void start(int member);
  // SIGKILL.
  void kill(int member);
  // SIGSTOP and SIGCONT.
  void stop(int member);
  void go_on(int member);
  bool runs(int member) const { return members_[static_cast<std::size_t>(member)] != nullptr; }
  // And is not stopped.
  bool answers(int member) const {
    return runs(member) && !stopped_[static_cast<std::size_t>(member)];
  }

  // For rdzvd --state.
  std::string place(const std::string& prefix) const;
  // The value of a key; empty without one, and while no member answers.
  std::string read(const std::string& key) const;
  // Runs etcdctl on all members.
  void control(const std::vector<std::string>& words, const std::string& input = {}) const;
  // Forgets what its keys were before.
  void compact() const;
  // Keys below the prefix; -1 while no member answers.
  int count_keys(const std::string& prefix) const;

 private:
  Program& member(int number) const { return *members_[static_cast<std::size_t>(number)]; }
  std::string client_url(int number) const;
  std::string peer_url(int number) const;

  const TemporaryFolder folder_;
  std::chrono::seconds limit_;
  std::vector<std::string> options_;
  std::array<std::string, kMembers> client_ports_, peer_ports_;
  std::array<std::unique_ptr<Program>, kMembers> members_;
  std::array<bool, kMembers> stopped_{};
};

}  // namespace ddprun::test
