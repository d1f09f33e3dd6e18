// Hundreds of rounds of random faults on four nodes, the same ones for a seed, with what must hold
// after each of them.
#include <list>
#include <random>

#include "tests/unit/roster/witness.h"

namespace ddprun::roster {
namespace {

class Simulation {
 public:
  Simulation(unsigned seed, World world)
      : random_(seed),
        world_(world),
        witness_(server_, world, [this](MemberId id) { return agent_of(id); }) {
    server_.watch = [this](MemberId id, const auto& message) { witness_.hear(id, message); };
    for (int i = 0; i < kNodes; ++i)
      agents_.push_back({.name = "node" + std::to_string(i), .rank = i});
  }

  void step() {
    if (world_.kills && below(all_work() ? 10 : 100) == 0) kill_server();
    auto agent = agents_.begin();
    std::advance(agent, below(agents_.size()));
    happen(*agent, below(100));
    pass(std::chrono::milliseconds(below(4) == 0 ? 2500 : below(300)));
    check();
    forget_left_over();
  }

  // Everybody lives and works well from now on: the run must end.
  void end() {
    for (Agent& agent : agents_) agent.stopped = false;
    for (int i = 0; i < 2000 && server_.runs->memory_bytes() > 0; ++i) {
      for (Agent& agent : agents_) {
        if (agent.state == Agent::State::working && !agent.away) {
          server_.say(agent.id, Finished{agent.round->round});
          agent.state = Agent::State::finished;
        }
        react();
      }
      pass(1s);
    }
    EXPECT_EQ(server_.runs->size(), 0u);
    EXPECT_EQ(server_.runs->connections(), 0u);
    EXPECT_EQ(server_.runs->memory_bytes(), 0u);
    EXPECT_FALSE(server_.wake_at);
  }

  const Witness& witness() const { return witness_; }
  int resumed() const { return resumed_; }  // rounds that outlived their server

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  nanoseconds within(nanoseconds span) {
    return std::chrono::milliseconds(below(static_cast<std::size_t>(span / 1ms)));
  }

  void happen(Agent& agent, std::size_t event) {
    if (agent.state == Agent::State::off) {
      if (event < 60) join(agent);
    } else if (agent.away) {
      if (event < 10) start_anew_beside(agent);
      if (event >= 95) agent.state = Agent::State::off;  // killed
    } else if (agent.stopped) {
      agent.stopped = event < 50;
    } else if (event < 8) {
      server_.reset(agent.id);
      agent.state = Agent::State::off;
    } else if (event < 12) {
      server_.say(agent.id, Leave{"stopped by SIGTERM"});
      if (!server_.closed.contains(agent.id)) server_.reset(agent.id);
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
    } else if (event < 44) {
      cut_off(agent, /*silently=*/event < 38);
    }
  }

  Join join_of(const Agent& agent) {
    Join join = node(agent.name, world_.min, kNodes);
    join.pid = agent.pid;
    join.max_restarts = world_.max_restarts;
    join.join_timeout = 60s;
    join.last_call_timeout = 2s;
    join.reconnect_timeout = kReconnect;
    join.static_ranks = world_.given_ranks;
    if (world_.given_ranks) join.node_rank = agent.rank;
    return join;
  }

  void join(Agent& agent) {
    agent = {
        .name = agent.name, .rank = agent.rank, .state = Agent::State::waiting, .pid = ++last_pid_};
    connect(agent, join_of(agent));
  }

  void connect(Agent& agent, const Join& join) {
    agent.read = 0;
    agent.away = false;
    connecting_ = &agent;
    agent.id = server_.connect(join);
    connecting_ = nullptr;
    if (join.former) witness_.comes_back(agent.id, join.former->run_directory);
  }

  // A round runs, and every agent would notice the loss of the server.
  bool all_work() {
    const auto runs = server_.runs->snapshots(server_.now);
    return !runs.empty() && runs[0].state == Snapshot::State::running &&
           std::ranges::none_of(agents_, &Agent::stopped);
  }

  // Agents whose workers run come back with their membership, the others later as newcomers. What
  // the old server has ended the new one cannot know, so nobody may have missed it.
  void kill_server() {
    if (std::ranges::any_of(agents_, &Agent::away)) return;
    killed_at_ = server_.now;
    server_.kill_and_start();
    ghosts_.clear();
    asked_.clear();
    witness_.server_killed();
    for (Agent& agent : agents_) {
      const bool keeps =
          agent.state == Agent::State::working || agent.state == Agent::State::finished;
      if (!keeps || agent.stopped) {
        agent = {.name = agent.name, .rank = agent.rank};
        continue;
      }
      agent.away = true;
      agent.returns_at = server_.now + (below(3) == 0 ? within(kReconnect) : 0ns);
    }
    react();
    const auto runs = server_.runs->snapshots(server_.now);
    resumed_ += !runs.empty() && runs[0].state == Snapshot::State::running;
  }

  // It lives, and comes back in time. The server hears of it at once, or when it is silent.
  void cut_off(Agent& agent, bool silently) {
    if (silently)
      ghosts_.insert(agent.id);
    else
      server_.reset(agent.id);
    asked_.erase(agent.id);
    agent.away = true;
    // In a network that swallows everything it takes a while to notice it.
    agent.returns_at = server_.now + within(kReconnect) + (silently ? within(kSilence) : 0ns);
    if (agent.state != Agent::State::stopping) return;
    // Whoever stops its workers comes back when they have ended.
    agent.state = Agent::State::waiting;
    agent.returns_at = std::max(agent.returns_at, agent.stops_at);
  }

  void come_back(Agent& agent) {
    Join join = join_of(agent);
    join.former = agent.former;
    if (agent.state != Agent::State::waiting)
      join.held = Held{.server = agent.by,
                       .member = agent.place,
                       .finished = agent.state == Agent::State::finished,
                       .assignment = *agent.round};
    connect(agent, join);
  }

  // The user does not know that the old one lives.
  void start_anew_beside(Agent& agent) {
    agents_.push_back(agent);
    left_over_.insert(agent.pid);
    join(agent);
  }

  void forget_left_over() {
    std::erase_if(agents_, [&](const Agent& agent) {
      return agent.state == Agent::State::off && left_over_.contains(agent.pid);
    });
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
    agent.stops_at = server_.now + within(1500ms);
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
    if (agent.away) {
      if (server_.now < agent.returns_at) return false;
      come_back(agent);
    }
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
  void on(Agent& agent, const Welcome& welcome) {
    if (!agent.former || !agent.round) agent.former = Former{"", welcome.run_directory};
    agent.former->server = welcome.server;
  }
  void on(Agent& agent, const Assignment& round) {
    EXPECT_EQ(agent.state, Agent::State::waiting) << agent.name << " has workers of another round";
    const std::string& run = witness_.run_of(agent.id);
    if (agent.first_run.empty()) agent.first_run = run;
    EXPECT_EQ(agent.first_run, run) << agent.name << " is a node of two jobs";
    agent.round = round;
    agent.place = agent.id;
    agent.by = server_.id();
    agent.state = Agent::State::working;
  }
  void on(Agent& agent, const Stop& stop) { must_stop(agent, stop.round); }
  void on(Agent& agent, const Restart& restart) { must_stop(agent, restart.round); }
  void on(Agent& agent, const Abort&) { agent.state = Agent::State::off; }
  void on(Agent& agent, const Closed&) { agent.state = Agent::State::off; }
  void on(Agent& agent, const Refused&) { agent.state = Agent::State::off; }

  void must_stop(Agent& agent, int round) {
    if (!agent.round || agent.round->round != round || agent.state == Agent::State::waiting) return;
    asked_.insert(agent.id);
    if (agent.state == Agent::State::stopping) return;
    agent.state = Agent::State::stopping;
    agent.stops_at = server_.now + within(1500ms);
  }

  Agent* agent_of(MemberId id) {
    const auto agent = std::ranges::find(agents_, id, &Agent::id);
    return agent == agents_.end() ? connecting_ : &*agent;
  }

  // Nothing may be stuck beyond its limits, and what is gone must be forgotten.
  void check() {
    const auto snapshots = server_.runs->snapshots(server_.now);
    if (snapshots.empty()) {
      EXPECT_EQ(server_.runs->connections(), 0u);
      EXPECT_EQ(server_.wake_at.has_value(), server_.runs->memory_bytes() > 0);
      return;
    }
    const Snapshot& run = snapshots.front();
    const bool stopping = run.state == Snapshot::State::stopping;
    // A new server waits with what follows until the others are back to hear it.
    const bool returning = killed_at_ && server_.now <= *killed_at_ + 5300ms;
    EXPECT_LE(run.in_state, stopping                                 ? (returning ? 5300ms : 300ms)
                            : run.state == Snapshot::State::waiting  ? 63s
                            : run.state == Snapshot::State::resuming ? 5300ms
                                                                     : nanoseconds::max());
    std::size_t alive = 0;
    for (const Agent& agent : agents_) alive += agent.state != Agent::State::off;
    EXPECT_LE(server_.runs->connections(), alive + ghosts_.size());
    for (const NodeSnapshot& each : run.nodes)
      EXPECT_LE(each.heard_ago, 21s) << each.node << " is silent and not lost";
    std::erase_if(ghosts_, [&](MemberId id) { return server_.closed.contains(id); });
  }

  std::mt19937 random_;
  World world_;
  std::optional<Time> killed_at_;
  ServerOfRuns server_;
  Witness witness_;
  std::list<Agent> agents_;
  std::set<int> left_over_;  // pids of agents that another one was started beside
  Agent* connecting_ = nullptr;
  std::set<MemberId> ghosts_;
  std::set<MemberId> asked_;  // to say Drained
  int last_pid_ = 0;
  int resumed_ = 0;
};

class SimulationTest : public testing::TestWithParam<unsigned> {};

TEST_P(SimulationTest, FiveHundredRoundsOfRandomFaults) {
  const unsigned seed = GetParam();
  Simulation simulation(seed, {.min = seed % 4 == 0 ? kNodes : 1 + static_cast<int>(seed % 3),
                               .max_restarts = static_cast<int>(3 + seed % 5),
                               .kills = seed % 2 == 0});
  const Witness& seen = simulation.witness();
  for (int i = 0; seen.rounds() < 500 && i < 200'000 && !testing::Test::HasFailure(); ++i)
    simulation.step();
  EXPECT_GE(seen.rounds(), 500);
  EXPECT_GT(seen.aborts(), 0);
  EXPECT_GT(seen.restarts(), 0);
  EXPECT_GT(seen.losses(), 0);
  EXPECT_GT(seen.late(), 0);
  if (seed % 2 == 0) {
    EXPECT_GT(simulation.resumed(), 0);
  }
  simulation.end();
}

// Every fault ends a job here, and another one begins under its run id.
TEST_P(SimulationTest, HundredsOfJobsThatNeedAllNodesAndMayNotRestart) {
  const unsigned seed = GetParam();
  Simulation simulation(seed,
                        {.min = kNodes, .given_ranks = seed % 3 != 0, .kills = seed % 2 == 0});
  const Witness& seen = simulation.witness();
  for (int i = 0; seen.rounds() < 200 && i < 200'000 && !testing::Test::HasFailure(); ++i)
    simulation.step();
  EXPECT_GE(seen.rounds(), 200);
  EXPECT_GT(seen.aborts(), 100);
  EXPECT_GT(seen.late(), 10);
  EXPECT_EQ(seen.restarts(), 0);
  if (seed % 2 == 0) {
    EXPECT_GT(simulation.resumed(), 0);
  }
  simulation.end();
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulationTest, testing::Range(1u, 9u));

}  // namespace
}  // namespace ddprun::roster
