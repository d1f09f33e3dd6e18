// Hundreds of rounds of random faults on four nodes, the same ones for a seed, with what must hold
// after each of them.
#include <random>

#include "tests/unit/roster/server_of_runs.h"

namespace ddprun::roster {
namespace {

// A node's agent as docs/protocol.md wants it, with workers that fail and stop when told to.
struct Agent {
  enum class State { off, waiting, working, stopping, finished };
  std::string name;
  MemberId id = 0;
  MemberId place = 0;  // its id in `round`
  std::string by;      // whose `round` it is
  State state = State::off;
  bool stopped = false;  // SIGSTOP: it answers nothing
  std::optional<Assignment> round;
  std::size_t read = 0;  // messages
  int pid = 0;
  Time stops_at{};
};

class Simulation {
 public:
  Simulation(unsigned seed, int min, int max_restarts, bool kills)
      : random_(seed), min_(min), max_restarts_(max_restarts), kills_(kills) {
    server_.watch = [this](MemberId id, const ServerMessage& message) {
      std::visit([&](const auto& each) { see(id, each); }, message);
    };
    for (int i = 0; i < 4; ++i) agents_.push_back({.name = "node" + std::to_string(i)});
  }

  void step() {
    if (kills_ && below(all_work() ? 10 : 100) == 0) kill_server();
    Agent& agent = agents_[below(agents_.size())];
    const std::size_t event = below(100);
    if (agent.state == Agent::State::off) {
      if (event < 60) join(agent);
    } else if (agent.stopped) {
      agent.stopped = event < 50;
    } else if (event < 8) {
      server_.reset(agent.id);
      agent.state = Agent::State::off;
    } else if (event < 12) {
      server_.say(agent.id, Leave{"stopped by SIGTERM"});
      agent.state = Agent::State::off;
    } else if (event < 15) {
      agent.stopped = true;
    } else if (event < 30 && agent.state == Agent::State::working) {
      fail(agent);
    } else if (event < 32 && agent.state == Agent::State::working) {
      server_.say(agent.id, Finished{agent.round->round});
      agent.state = Agent::State::finished;
    } else if (event < 34) {
      come_back_as_another(agent);
    }
    pass(std::chrono::milliseconds(below(4) == 0 ? 2500 : below(300)));
    check();
  }

  // Everybody lives and works well from now on: the run must end.
  void end() {
    for (Agent& agent : agents_) agent.stopped = false;
    for (int i = 0; i < 2000 && server_.runs->size() > 0; ++i) {
      for (Agent& agent : agents_) {
        if (agent.state == Agent::State::working) {
          server_.say(agent.id, Finished{agent.round->round});
          agent.state = Agent::State::finished;
        }
        read(agent);
      }
      pass(1s);
    }
    EXPECT_EQ(server_.runs->size(), 0u);
    EXPECT_EQ(server_.runs->connections(), 0u);
    EXPECT_FALSE(server_.wake_at);
  }

  int rounds() const { return rounds_; }
  int aborts() const { return aborts_; }
  int restarts() const { return restarts_; }
  int losses() const { return losses_; }
  int resumed() const { return resumed_; }  // rounds that outlived their server

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

  Join join_of(const Agent& agent) {
    Join join = node(agent.name, min_, 4);
    join.max_restarts = max_restarts_;
    join.join_timeout = 60s;
    join.last_call_timeout = 2s;
    join.reconnect_timeout = 5s;
    return join;
  }

  void join(Agent& agent) {
    Join join = join_of(agent);
    join.pid = ++last_pid_;
    agent = {.name = agent.name, .state = Agent::State::waiting, .pid = join.pid};
    agent.id = server_.connect(join);
  }

  // A round runs, and every agent would notice the loss of the server.
  bool all_work() {
    const auto runs = server_.runs->snapshots(server_.now);
    return !runs.empty() && runs[0].state == Snapshot::State::running &&
           std::ranges::none_of(agents_, &Agent::stopped);
  }

  // Agents whose workers run come back with their membership, the others later as newcomers.
  void kill_server() {
    ++kill_count_;
    killed_at_ = server_.now;
    server_.kill_and_start();
    ghosts_.clear();
    asked_.clear();
    for (Agent& agent : agents_) {
      const bool keeps =
          agent.state == Agent::State::working || agent.state == Agent::State::finished;
      if (!keeps || agent.stopped) {
        agent = {.name = agent.name};
        continue;
      }
      Join join = join_of(agent);
      join.pid = agent.pid;
      join.held = Held{.server = agent.by,
                       .member = agent.place,
                       .finished = agent.state == Agent::State::finished,
                       .assignment = *agent.round};
      agent.read = 0;
      agent.id = server_.connect(join);
    }
    const auto runs = server_.runs->snapshots(server_.now);
    resumed_ += !runs.empty() && runs[0].state == Snapshot::State::running;
  }

  void fail(Agent& agent) {
    const NodePlace place = *place_of(*agent.round, agent.place);
    const int local_rank = static_cast<int>(below(2));
    server_.say(agent.id, Failed{.round = agent.round->round,
                                 .rank = place.first_rank + local_rank,
                                 .local_rank = local_rank,
                                 .code = 1 + static_cast<int>(below(9)),
                                 .age = std::chrono::microseconds(below(2000))});
    agent.state = Agent::State::stopping;
    agent.stops_at = server_.now + std::chrono::milliseconds(below(1500));
  }

  // The old connection is half open: nobody has told the server.
  void come_back_as_another(Agent& agent) {
    ghosts_.insert(agent.id);
    join(agent);
  }

  void pass(nanoseconds span) {
    const Time end = server_.now + span;
    while (server_.now < end) {
      react();
      server_.pass(std::min<nanoseconds>(100ms, end - server_.now));
    }
    react();
  }

  void react() {
    for (bool something = true; something;) {
      something = false;
      for (Agent& agent : agents_) something = read(agent) || something;
    }
  }

  // Whether anything was read or done.
  bool read(Agent& agent) {
    if (agent.state == Agent::State::off || agent.stopped) return false;
    bool something = false;
    while (agent.state != Agent::State::off && agent.read < server_.told[agent.id].size()) {
      const ServerMessage message = server_.told[agent.id][agent.read++];
      std::visit([&](const auto& each) { on(agent, each); }, message);
      something = true;
    }
    if (server_.closed.contains(agent.id)) agent.state = Agent::State::off;
    if (agent.state == Agent::State::off) return something;
    server_.answer_pings(agent.id);
    if (server_.closed.contains(agent.id)) return true;
    if (agent.state == Agent::State::stopping && server_.now >= agent.stops_at) {
      if (!asked_.contains(agent.id)) return something;
      asked_.erase(agent.id);
      agent.state = Agent::State::waiting;
      server_.say(agent.id, Drained{agent.round->round, 40000});
      return true;
    }
    return something;
  }

  template <class Message>
  void on(Agent&, const Message&) {}
  void on(Agent& agent, const Assignment& round) {
    EXPECT_EQ(agent.state, Agent::State::waiting) << agent.name << " has workers of another round";
    agent.round = round;
    agent.place = agent.id;
    agent.by = server_.id();
    agent.state = Agent::State::working;
  }
  void on(Agent& agent, const Stop& stop) { must_stop(agent, stop.round); }
  void on(Agent& agent, const Restart& restart) { must_stop(agent, restart.round); }
  void on(Agent& agent, const Abort&) { agent.state = Agent::State::off; }
  void on(Agent& agent, const Closed&) { agent.state = Agent::State::off; }
  void on(Agent&, const Refused& refused) { ADD_FAILURE() << "refused: " << refused.why; }

  void must_stop(Agent& agent, int round) {
    if (!agent.round || agent.round->round != round || agent.state == Agent::State::waiting) return;
    asked_.insert(agent.id);
    if (agent.state == Agent::State::stopping) return;
    agent.state = Agent::State::stopping;
    agent.stops_at = server_.now + std::chrono::milliseconds(below(1500));
  }

  // What the server says, in its order: the same to all of a run, and consistent.
  template <class Message>
  void see(MemberId, const Message&) {}
  void see(MemberId id, const Welcome& welcome) { run_of_[id] = welcome.run_directory; }
  void see(MemberId id, const Assignment& round) {
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
  void see(MemberId id, const Restart& restart) {
    Told& told = told_[run_of_.at(id)];
    const bool by_worker = restart.cause.kind == Cause::Kind::worker_failed;
    if (told.restarts.emplace(restart.round, restart).second) ++(by_worker ? restarts_ : losses_);
    told.spent[restart.round] = by_worker;
  }
  void see(MemberId id, const Abort& abort) {
    Told& told = told_[run_of_.at(id)];
    if (!told.abort) ++aborts_;
    if (!told.abort) told.abort = abort;
    EXPECT_EQ(told.abort->why, abort.why) << "one cause for all";
    EXPECT_EQ(told.abort->exit_code, abort.exit_code);
  }

  struct Told {
    std::map<int, Assignment> rounds;
    std::map<int, Restart> restarts;
    std::map<int, bool> spent;  // by round: a worker's failure ended it
    std::optional<Abort> abort;
    int first_round = 0;
    int first_restarts = 0;
  };

  void check_round(Told& told, const Assignment& round) {
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
    EXPECT_GE(round.nodes.size(), static_cast<std::size_t>(min_));
    EXPECT_LE(round.nodes.size(), 4u);
    EXPECT_FALSE(told.abort) << "a round after the end";
    int spent = 0;
    for (const auto& [each, by_worker] : told.spent) spent += by_worker;
    // A run that another server began.
    if (kill_count_ > 0 && told.rounds.empty()) {
      told.first_round = round.round;
      told.first_restarts = round.restarts - spent;
    }
    EXPECT_EQ(round.round, told.first_round + static_cast<int>(told.rounds.size()));
    EXPECT_EQ(round.restarts, told.first_restarts + spent)
        << "only a worker's failure spends a restart";
    EXPECT_LE(round.restarts, max_restarts_);
  }

  // Nothing may be stuck beyond its limits, and what is gone must be forgotten.
  void check() {
    const auto snapshots = server_.runs->snapshots(server_.now);
    if (snapshots.empty()) {
      EXPECT_EQ(server_.runs->connections(), 0u);
      EXPECT_FALSE(server_.wake_at);
      return;
    }
    const Snapshot& run = snapshots.front();
    const bool stopping = run.state == Snapshot::State::stopping;
    // A new server waits with what follows until the others are back to hear it.
    const bool returning = killed_at_ && server_.now <= *killed_at_ + 5300ms;
    EXPECT_LE(run.in_state, stopping                                ? (returning ? 5300ms : 300ms)
                            : run.state == Snapshot::State::waiting ? 63s
                                                                    : nanoseconds::max());
    std::size_t alive = 0;
    for (const Agent& agent : agents_) alive += agent.state != Agent::State::off;
    EXPECT_LE(server_.runs->connections(), alive + ghosts_.size());
    for (const NodeSnapshot& each : run.nodes)
      EXPECT_LE(each.heard_ago, 21s) << each.node << " is silent and not lost";
    std::erase_if(ghosts_, [&](MemberId id) { return server_.closed.contains(id); });
  }

  std::mt19937 random_;
  int min_;
  int max_restarts_;
  bool kills_;
  int kill_count_ = 0;
  std::optional<Time> killed_at_;
  ServerOfRuns server_;
  std::vector<Agent> agents_;
  std::set<MemberId> ghosts_;
  std::set<MemberId> asked_;  // to say Drained
  int last_pid_ = 0;
  int rounds_ = 0;
  int aborts_ = 0;
  int restarts_ = 0;
  int losses_ = 0;
  int resumed_ = 0;
  std::map<MemberId, std::string> run_of_;  // its run directory names a run as nothing else does
  std::map<std::string, Told> told_;
};

class SimulationTest : public testing::TestWithParam<unsigned> {};

TEST_P(SimulationTest, FiveHundredRoundsOfRandomFaults) {
  const unsigned seed = GetParam();
  Simulation simulation(seed, seed % 4 == 0 ? 4 : 1 + static_cast<int>(seed % 3),
                        static_cast<int>(3 + seed % 5), seed % 2 == 0);
  for (int i = 0; simulation.rounds() < 500 && i < 200'000 && !testing::Test::HasFailure(); ++i)
    simulation.step();
  EXPECT_GE(simulation.rounds(), 500);
  EXPECT_GT(simulation.aborts(), 0);
  EXPECT_GT(simulation.restarts(), 0);
  EXPECT_GT(simulation.losses(), 0);
  if (seed % 2 == 0) {
    EXPECT_GT(simulation.resumed(), 0);
  }
  simulation.end();
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulationTest, testing::Range(1u, 9u));

}  // namespace
}  // namespace ddprun::roster
