// Many runs of one server, its limits, and what rdzvctl asks.
#include <boost/json/serialize.hpp>

#include "tests/unit/roster/server_of_runs.h"

namespace ddprun::roster {
namespace {

Join of_run(const std::string& run, const std::string& name = "a", int nodes = 2) {
  Join join = node(name, nodes, nodes);
  join.run = run;
  return join;
}

TEST(Runs, RunsDoNotMix) {
  ServerOfRuns server;
  const MemberId x = server.connect(of_run("x"));
  const MemberId y = server.connect(of_run("y"));
  EXPECT_FALSE(server.got<Assignment>(x));
  EXPECT_NE(server.last<Welcome>(x).run_directory, server.last<Welcome>(y).run_directory);
  server.connect(of_run("x", "b"));
  EXPECT_TRUE(server.got<Assignment>(x));
  EXPECT_FALSE(server.got<Assignment>(y));
  EXPECT_EQ(server.runs->size(), 2u);
}

TEST(Runs, ARunIsForgottenAndItsIdIsFreeAgain) {
  ServerOfRuns server;
  const MemberId first = server.connect(of_run("x", "a", 1));
  server.say(first, Finished{0});
  EXPECT_EQ(server.runs->size(), 0u);
  EXPECT_EQ(server.runs->connections(), 0u);
  EXPECT_FALSE(server.wake_at) << "nothing is left to wait for";
  const MemberId second = server.connect(of_run("x", "a", 1));
  EXPECT_EQ(server.last<Assignment>(second).round, 0);
  server.reset(second);
  EXPECT_EQ(server.runs->size(), 0u);
}

TEST(Runs, ADaemonRefusesARunWithoutAName) {
  ServerOfRuns server;
  const MemberId id = server.connect(of_run("none"));
  EXPECT_NE(server.last<Refused>(id).why.find("--rdzv-id"), std::string::npos);
  EXPECT_EQ(server.runs->size(), 0u);
}

TEST(Runs, AnEmbeddedServerServesItsOwnRunOnly) {
  ServerOfRuns server({}, true);
  const MemberId own = server.connect(of_run("none"));
  EXPECT_TRUE(server.last<Welcome>(own).embedded);
  server.pass_alive(60s);
  const MemberId stranger = server.connect(of_run("other", "z"));
  EXPECT_EQ(
      server.last<Refused>(stranger).why,
      "this endpoint belongs to run none, started 60 s ago by node a on hub; node z wants run "
      "other: give all nodes of one job the same --rdzv-id, and another job another endpoint");
  server.connect(of_run("none", "b"));
  EXPECT_TRUE(server.got<Assignment>(own));
}

TEST(Runs, LimitsAreToldInWords) {
  ServerOfRuns server({.max_runs = 1, .max_members = 2});
  server.connect(of_run("x", "a", 3));
  server.connect(of_run("x", "b", 3));
  const MemberId third = server.connect(of_run("x", "c", 3));
  EXPECT_EQ(server.last<Refused>(third).why,
            "run x has 2 nodes, which is all that this server takes");
  const MemberId other = server.connect(of_run("y"));
  EXPECT_EQ(server.last<Refused>(other).why,
            "rdzvd on hub serves 1 runs, which is all that it takes");
}

TEST(Runs, TheFirstMessageMustBeAJoinOrAQuestion) {
  ServerOfRuns server;
  const MemberId id = server.connect(Pong{1});
  EXPECT_EQ(server.last<Refused>(id).why, "the first message is \"pong\", join is needed");
  EXPECT_TRUE(server.closed.contains(id));
}

TEST(Runs, ASecondJoinOnOneConnectionIsAMisuse) {
  ServerOfRuns server;
  const MemberId id = server.connect(of_run("x"));
  server.say(id, of_run("x"));
  EXPECT_TRUE(server.closed.contains(id));
  EXPECT_EQ(server.runs->size(), 0u);
}

TEST(Runs, CancelStopsEveryNode) {
  ServerOfRuns server;
  const MemberId a = server.connect(of_run("x"));
  const MemberId b = server.connect(of_run("x", "b"));
  const MemberId far = server.connect(AskCancel{"x", "me"}, false);
  EXPECT_NE(server.last<Refused>(far).why.find("own host only"), std::string::npos);
  const MemberId asker = server.connect(AskCancel{"x", "rdzvctl by kim"});
  EXPECT_EQ(server.last<CancelAnswer>(asker).text, "run x is cancelled; 2 nodes told");
  for (const MemberId id : {a, b}) {
    EXPECT_EQ(server.last<Abort>(id).why, "run x was cancelled by rdzvctl by kim");
    EXPECT_EQ(server.last<Abort>(id).exit_code, 143);
  }
  const MemberId again = server.connect(AskCancel{"x", "me"});
  EXPECT_EQ(server.last<Refused>(again).why, "there is no run x here");
}

TEST(Runs, StacksComeFromEveryNodeOrSayWhyNot) {
  ServerOfRuns server;
  const MemberId a = server.connect(of_run("x", "a", 3));
  const MemberId b = server.connect(of_run("x", "b", 3));
  server.connect(of_run("x", "c", 3));
  const MemberId asker = server.connect(AskStacks{"x"});
  const std::uint64_t question = server.last<TakeStacks>(a).id;
  server.say(a, StacksDone{question, "/tmp/a", {}});
  server.reset(b);
  EXPECT_FALSE(server.got<StacksAnswer>(asker));
  server.pass(15s);
  const auto nodes = server.last<StacksAnswer>(asker).nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].path, "/tmp/a");
  EXPECT_EQ(nodes[1].failed, "its connection was reset");
  EXPECT_EQ(nodes[2].node, "c");
  EXPECT_EQ(nodes[2].failed, "it did not answer within 15 s");
}

TEST(Runs, TheStatusShowsNodesRanksDevicesAndTheLastFailure) {
  ServerOfRuns server;
  Join join = of_run("x");
  join.max_restarts = 1;
  const MemberId a = server.connect(join);
  EXPECT_EQ(server.runs->snapshots(server.now)[0].missing,
            "1 of 2 nodes are here (a), 1 node is missing");
  join.node = "b";
  const MemberId b = server.connect(join);
  server.say(b, Started{0, {{11, "GPU 0"}, {12, "GPU 1"}}});
  server.say(b, Failed{.round = 0, .rank = 3, .local_rank = 1, .code = 1, .lines = {"secret"}});
  server.answer_pings();
  for (const MemberId id : {a, b}) server.say(id, Drained{0, 40000});
  server.say(b, Started{1, {{13, "GPU 0"}, {14, "GPU 1"}}});
  server.pass(2s);
  const auto snapshot = server.runs->snapshot(server.now, "x");
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->state, Snapshot::State::running);
  EXPECT_EQ(snapshot->round, 1);
  EXPECT_EQ(snapshot->restarts, 1);
  EXPECT_EQ(snapshot->world_size, 4);
  EXPECT_EQ(snapshot->nodes[1].node, "b");
  EXPECT_EQ(snapshot->nodes[1].first_rank, 2);
  EXPECT_EQ(snapshot->nodes[1].workers[1].device, "GPU 1");
  EXPECT_EQ(snapshot->nodes[1].heard_ago, 2s);
  EXPECT_EQ(snapshot->last_failure->rank, 3);

  const MemberId near = server.connect(AskStatus{});
  const MemberId far = server.connect(AskStatus{"x"}, false);
  const std::string shown = boost::json::serialize(server.last<StatusAnswer>(near).runs);
  EXPECT_NE(shown.find("\"rank\":3,\"local_rank\":1,\"pid\":14,\"device\":\"GPU 1\""),
            std::string::npos)
      << shown;
  EXPECT_NE(shown.find("secret"), std::string::npos);
  EXPECT_EQ(boost::json::serialize(server.last<StatusAnswer>(far).runs).find("secret"),
            std::string::npos)
      << "a worker's output is for the server's own host";
  const MemberId unknown = server.connect(AskStatus{"y"});
  EXPECT_TRUE(server.got<Refused>(unknown));
}

TEST(Runs, AServerThatEndsTellsEverybody) {
  ServerOfRuns server;
  const MemberId a = server.connect(of_run("x"));
  const Decision decision = server.runs->shut_down("rdzvd was stopped by SIGTERM");
  ASSERT_EQ(decision.effects.size(), 2u);
  const auto& send = std::get<Send>(decision.effects[0]);
  EXPECT_EQ(send.to, std::vector<MemberId>{a});
  EXPECT_EQ(std::get<ServerStopping>(send.message).why, "rdzvd was stopped by SIGTERM");
  EXPECT_EQ(server.runs->size(), 0u);
}

}  // namespace
}  // namespace ddprun::roster
