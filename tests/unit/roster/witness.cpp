#include "tests/unit/roster/witness.h"

namespace ddprun::roster {

void Witness::server_killed() {
  killed_ = true;
  for (auto& [run, told] : told_) told = {.abort = told.abort, .closed = told.closed};
}

void Witness::see(MemberId id, const Welcome& welcome) {
  const bool first = !run_of_.contains(id);
  run_of_[id] = welcome.run_directory;
  const Told& told = told_[welcome.run_directory];
  EXPECT_FALSE(told.abort || told.closed) << "a run that has ended takes nobody";
  const Agent* agent = agent_of_(id);
  if (first && agent != nullptr && agent->former) {
    EXPECT_EQ(welcome.run_directory, agent->former->run_directory)
        << agent->name << " came back to another run";
  }
}

void Witness::see(MemberId id, const Assignment& round) {
  Told& told = told_[run_of_.at(id)];
  if (told.rounds.contains(round.round)) {
    const Assignment& first = told.rounds.at(round.round);
    EXPECT_EQ(first.world_size, round.world_size);
    EXPECT_EQ(first.restarts, round.restarts);
    EXPECT_EQ(first.nodes.size(), round.nodes.size());
  } else {
    check_round(told, round);
    told.rounds[round.round] = round;
  }
}

void Witness::see(MemberId id, const Restart& restart) {
  // To one that comes back after its round has ended, whatever ended it.
  if (restart.cause.text.find("it joins anew") != std::string::npos) return;
  Told& told = told_[run_of_.at(id)];
  const bool by_worker = restart.cause.kind == Cause::Kind::worker_failed;
  if (told.restarts.emplace(restart.round, restart).second) ++(by_worker ? restarts_ : losses_);
  told.spent[restart.round] = by_worker;
}

void Witness::see(MemberId id, const Abort& abort) {
  Told& told = told_of(id);
  if (!told.abort) ++aborts_;
  if (!told.abort) told.abort = abort;
  EXPECT_EQ(told.abort->why, abort.why) << "one cause for all";
  EXPECT_EQ(told.abort->exit_code, abort.exit_code);
  EXPECT_FALSE(told.closed);
  ended(id, told);
}

void Witness::see(MemberId id, const Closed&) {
  Told& told = told_of(id);
  told.closed = true;
  EXPECT_FALSE(told.abort);
  ended(id, told);
}

void Witness::see(MemberId id, const Refused& refused) {
  ++refused_;
  if (refused.why.find("is taken") != std::string::npos) return;
  const Agent* agent = agent_of_(id);
  ASSERT_TRUE(agent != nullptr && agent->former) << refused.why;
  const Told& told = told_[agent->former->run_directory];
  EXPECT_TRUE(!told.ended_at || server_.now >= *told.ended_at + kReconnect + kSilence)
      << agent->name << " was not told how its run ended: " << refused.why;
}

// Of the run that a connection belongs to, or did before it was cut.
Witness::Told& Witness::told_of(MemberId id) {
  const auto run = run_of_.find(id);
  return told_[run == run_of_.end() ? agent_of_(id)->former->run_directory : run->second];
}

void Witness::ended(MemberId id, Told& told) {
  if (!told.ended_at) told.ended_at = server_.now;
  late_ += !run_of_.contains(id);
}

void Witness::check_round(Told& told, const Assignment& round) {
  ++rounds_;
  int world = 0;
  std::set<MemberId> members;
  for (const AssignedNode& each : round.nodes) {
    EXPECT_EQ(place_of(round, each.member)->first_rank, world);
    world += each.nproc;
    EXPECT_TRUE(members.insert(each.member).second) << "a node twice";
    EXPECT_FALSE(server_.closed.contains(each.member)) << "a node that is gone";
  }
  EXPECT_EQ(world, round.world_size);
  EXPECT_GE(round.nodes.size(), static_cast<std::size_t>(world_.min));
  EXPECT_LE(round.nodes.size(), static_cast<std::size_t>(kNodes));
  EXPECT_FALSE(told.abort) << "a round after the end";
  int spent = 0;
  for (const auto& [each, by_worker] : told.spent) spent += by_worker;
  // A run that another server began.
  if (killed_ && told.rounds.empty()) {
    told.first_round = round.round;
    told.first_restarts = round.restarts - spent;
  }
  EXPECT_EQ(round.round, told.first_round + static_cast<int>(told.rounds.size()));
  EXPECT_EQ(round.restarts, told.first_restarts + spent)
      << "only a worker's failure spends a restart";
  EXPECT_LE(round.restarts, world_.max_restarts);
}

}  // namespace ddprun::roster
