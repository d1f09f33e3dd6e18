// What a server says to the agents of a simulation, checked as it is said: the same to all of a
// run, and consistent.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/unit/roster/simulated_agent.h"

namespace ddprun::roster {

class Witness {
 public:
  // `agent_of`: whose connection it is; null where there is none any more.
  Witness(const ServerOfRuns& server, World world, std::function<const Agent*(MemberId)> agent_of)
      : server_(server), world_(world), agent_of_(std::move(agent_of)) {}

  void hear(MemberId id, const ServerMessage& message) {
    std::visit([&](const auto& each) { see(id, each); }, message);
  }
  // Of one who was a node of `run` before.
  void comes_back(MemberId id, const std::string& run) { run_of_.emplace(id, run); }
  // What the old server has ended the new one cannot know.
  void server_killed();

  // Its run directory names a run as nothing else does.
  const std::string& run_of(MemberId id) const { return run_of_.at(id); }

  int rounds() const { return rounds_; }
  int aborts() const { return aborts_; }
  int restarts() const { return restarts_; }
  int losses() const { return losses_; }
  int late() const { return late_; }        // nodes that were told an end that they had missed
  int refused() const { return refused_; }  // nodes that came back even later, or to another run

 private:
  struct Told {
    std::map<int, Assignment> rounds;
    std::map<int, Restart> restarts;
    std::map<int, bool> spent;  // by round: a worker's failure ended it
    std::optional<Abort> abort;
    bool closed = false;
    std::optional<Time> ended_at;  // on the present server
    int first_round = 0;
    int first_restarts = 0;
  };

  template <class Message>
  void see(MemberId, const Message&) {}
  void see(MemberId id, const Welcome& welcome);
  void see(MemberId id, const Assignment& round);
  void see(MemberId id, const Restart& restart);
  void see(MemberId id, const Abort& abort);
  void see(MemberId id, const Closed& closed);
  void see(MemberId id, const Refused& refused);
  Told& told_of(MemberId id);
  void ended(MemberId id, Told& told);
  void check_round(Told& told, const Assignment& round);

  const ServerOfRuns& server_;
  const World world_;
  const std::function<const Agent*(MemberId)> agent_of_;
  bool killed_ = false;
  std::map<MemberId, std::string> run_of_;
  std::map<std::string, Told> told_;
  int rounds_ = 0;
  int aborts_ = 0;
  int restarts_ = 0;
  int losses_ = 0;
  int late_ = 0;
  int refused_ = 0;
};

}  // namespace ddprun::roster
