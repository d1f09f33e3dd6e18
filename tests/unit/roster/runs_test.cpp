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
  const MemberId second = server.connect(of_run("x", "a", 1));
  EXPECT_EQ(server.last<Assignment>(second).round, 0);
  server.reset(second);
  server.pass(25s);
  EXPECT_EQ(server.runs->size(), 0u);
  EXPECT_EQ(server.runs->memory_bytes(), 0u);
  EXPECT_FALSE(server.wake_at) << "nothing is left to wait for";
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

TEST(Runs, AnAnswerToNoQuestionIsNoFirstMessage) {
  ServerOfRuns server;
  const MemberId id = server.connect(StacksDone{.id = 1, .path = "/tmp/x"});
  EXPECT_EQ(server.last<Refused>(id).why, "the first message is \"stacks_done\", join is needed");
  EXPECT_TRUE(server.closed.contains(id));
}

TEST(Runs, WhoeverAsksWaitsForTheAnswer) {
  ServerOfRuns server;
  const MemberId a = server.connect(of_run("x", "a", 1));
  for (const AgentMessage& second : {AgentMessage(of_run("x", "b", 1)), AgentMessage(Pong{1}),
                                     AgentMessage(AskStatus{}), AgentMessage(AskStacks{"x"})}) {
    const MemberId asker = server.connect(AskStacks{"x"});
    server.say(asker, second);
    EXPECT_NE(server.last<Refused>(asker).why.find("not answered yet"), std::string::npos);
    EXPECT_TRUE(server.closed.contains(asker));
    server.say(a, StacksDone{server.last<TakeStacks>(a).id, "/tmp/a", {}});  // to nobody
  }
  EXPECT_EQ(server.runs->connections(), 1u);
}

TEST(Runs, WhatTheyTakeIsCountedAndReturned) {
  ServerOfRuns server;
  EXPECT_EQ(server.runs->memory_bytes(), 0u);
  Join join = of_run("x", "a", 2);
  join.nproc = 100;
  const MemberId a = server.connect(join);
  const std::size_t one = server.runs->memory_bytes();
  EXPECT_GT(one, sizeof(roster::Run) + sizeof(Join));
  join.node = "b";
  const MemberId b = server.connect(join);
  const std::size_t two = server.runs->memory_bytes();
  EXPECT_GT(two, one + sizeof(Join));
  server.say(b, Started{0, std::vector<Started::Worker>(100, {1, std::string(100, 'x')})});
  EXPECT_GT(server.runs->memory_bytes(), two + 10'000);
  server.say(b, Started{0, {}});
  EXPECT_LT(server.runs->memory_bytes(), two + 1'000) << "what is replaced is not counted";
  const MemberId other = server.connect(of_run("y"));
  server.reset(b);
  EXPECT_TRUE(server.got<Abort>(a));
  server.reset(other);
  server.pass(20s);
  EXPECT_EQ(server.runs->memory_bytes(), 0u) << "also for those who might have come back";
}

TEST(Runs, WhoLeavesARunThatGoesOnTakesNothingWithIt) {
  ServerOfRuns server;
  server.connect(of_run("x", "a", 3));
  const std::size_t before = server.runs->memory_bytes();
  for (int i = 0; i < 10; ++i) server.reset(server.connect(of_run("x", "b", 3)));
  EXPECT_EQ(server.runs->memory_bytes(), before);
}

TEST(Runs, OverTheLimitOnMemoryNewcomersAreRefusedAndMembersGoOn) {
  ServerOfRuns server({.max_memory_bytes = 40'000});
  Join join = of_run("x", "a", 2);
  join.max_restarts = 1;
  const MemberId a = server.connect(join);
  join.node = "b";
  const MemberId b = server.connect(join);
  MemberId last = a;
  int runs = 0;
  for (; runs < 100 && !server.got<Refused>(last); ++runs)
    last = server.connect(of_run("full" + std::to_string(runs), "z"));
  EXPECT_GT(runs, 5);
  EXPECT_NE(server.last<Refused>(last).why.find("of 40000 that they may (max_memory_bytes)"),
            std::string::npos)
      << server.last<Refused>(last).why;
  EXPECT_LE(server.runs->memory_bytes(), 40'000u);
  server.say(b, Started{0, {{1, std::string(120, 'x')}, {2, std::string(120, 'x')}}});
  server.say(b, Failed{.round = 0,
                       .rank = 3,
                       .local_rank = 1,
                       .code = 7,
                       .lines = std::vector<std::string>(60, std::string(2000, 'x')),
                       .how = std::string(4000, 'x'),
                       .absent = std::vector<int>(4000, 1)});
  server.answer_pings();
  EXPECT_EQ(server.last<Restart>(a).cause.code, 7) << "the run is not disturbed";
  EXPECT_LE(server.runs->memory_bytes(), 44'000u);
}

TEST(Runs, OneAddressCannotTakeAllRuns) {
  ServerOfRuns server({.max_runs = 6});
  const auto begin = [&](const std::string& run, const std::string& network) {
    return server.connect(of_run(run, "a"), true, network);
  };
  const MemberId first = begin("x0", "10.0.0.7");
  begin("x1", "10.0.0.7");
  begin("x2", "10.0.0.7");
  const MemberId fourth = begin("x3", "10.0.0.7");
  EXPECT_NE(server.last<Refused>(fourth).why.find("there are 3 runs that 10.0.0.7 has begun on "),
            std::string::npos)
      << server.last<Refused>(fourth).why;
  const MemberId other = begin("y0", "10.0.0.8");
  EXPECT_TRUE(server.got<Welcome>(other));
  EXPECT_TRUE(server.got<Welcome>(server.connect(of_run("x1", "b"), true, "10.0.0.7")))
      << "its runs go on";
  server.reset(other);
  server.reset(first);
  EXPECT_TRUE(server.got<Welcome>(begin("x3", "10.0.0.7"))) << "in the place of x0";
  EXPECT_FALSE(server.runs->snapshot(server.now, "x0"));
  EXPECT_TRUE(server.runs->snapshot(server.now, "y0")) << "that of another address";
}

TEST(Runs, OneAddressCannotTakeAllMemory) {
  ServerOfRuns server({.max_memory_bytes = 100'000});
  const auto until_refused = [&](const std::string& network, auto next) {
    MemberId last = server.connect(next(0), true, network);
    for (int i = 1; i < 1000 && !server.got<Refused>(last); ++i)
      last = server.connect(next(i), true, network);
    EXPECT_NE(server.last<Refused>(last).why.find("half of 100000 is all that one address gets"),
              std::string::npos)
        << server.last<Refused>(last).why;
    EXPECT_LE(server.runs->memory_bytes(), 50'000u);
  };
  const auto number = [](int i) { return std::to_string(i); };
  until_refused("10.0.0.7", [&](int i) { return of_run("x" + number(i), "a", 1000); });
  until_refused("10.0.0.9", [&](int i) { return of_run("x0", "b" + number(i), 1000); });
  EXPECT_TRUE(server.got<Welcome>(server.connect(of_run("y"), true, "10.0.0.8")));
}

// Not among its own: it is the share of the address that has begun the run that is used up.
TEST(Runs, WhoJoinsTheRunOfAnotherAddressGetsRoomFromTheRunsOfThatAddress) {
  ServerOfRuns server({.max_memory_bytes = 100'000});
  server.reset(server.connect(of_run("own"), true, "10.0.0.8"));
  server.reset(server.connect(of_run("away", "a", 1000), true, "10.0.0.7"));
  MemberId last = server.connect(of_run("theirs", "n", 1000), true, "10.0.0.7");
  for (int i = 0; i < 1000 && !server.got<Refused>(last); ++i)
    last = server.connect(of_run("theirs", "n" + std::to_string(i), 1000), true, "10.0.0.8");
  EXPECT_TRUE(server.runs->snapshot(server.now, "own"));
  EXPECT_FALSE(server.runs->snapshot(server.now, "away"));
}

TEST(Runs, OneRunCannotTakeAllMemory) {
  ServerOfRuns server({.max_memory_bytes = 100'000});
  MemberId last = server.connect(of_run("x", "n0", 1000));
  for (int i = 1; i < 1000 && !server.got<Refused>(last); ++i)
    last = server.connect(of_run("x", "n" + std::to_string(i), 1000));
  EXPECT_NE(server.last<Refused>(last).why.find("half of its 100000 is all that one run gets"),
            std::string::npos);
  EXPECT_TRUE(server.got<Welcome>(server.connect(of_run("y"))));
}

TEST(Runs, MoreWorkersThanANodeHasAreAMisuse) {
  ServerOfRuns server;
  const MemberId a = server.connect(of_run("x", "a", 1));
  server.say(a, Started{0, {{1, ""}, {2, ""}, {3, ""}}});
  EXPECT_EQ(server.last<Refused>(a).why,
            "the agent broke the roster protocol: it started 3 workers, but joined with 2");
}

TEST(Runs, SilenceCannotBeAllowedForHours) {
  ServerOfRuns server;
  Join join = of_run("x");
  join.keep_alive_interval = 2h;
  join.keep_alive_max_attempt = 1;
  const MemberId slow = server.connect(join);
  EXPECT_EQ(server.last<Refused>(slow).why,
            "node a wants 1 ping (keep_alive_max_attempt) 2 h 0 min apart (keep_alive_interval): "
            "together at most 60 min are taken");
  join.keep_alive_interval = 5s;
  join.keep_alive_max_attempt = 1000;
  EXPECT_TRUE(server.got<Refused>(server.connect(join)));
  // It counts as 10 ms.
  join.keep_alive_interval = 1us;
  join.keep_alive_max_attempt = 1'000'000;
  EXPECT_TRUE(server.got<Refused>(server.connect(join)));
  join.keep_alive_interval = 60s;
  join.keep_alive_max_attempt = 60;
  const MemberId patient = server.connect(join);
  EXPECT_EQ(server.last<Welcome>(patient).ping_interval, 60s);
  server.pass(61min);
  EXPECT_EQ(server.runs->size(), 0u) << "it said nothing for an hour";
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

TEST(Runs, TheStatusShowsGivenNodeRanksBeforeTheRoundBegins) {
  ServerOfRuns server;
  Join join = of_run("x");
  join.min_nodes = join.max_nodes = 3;
  join.static_ranks = true;
  join.node_rank = 2;
  server.connect(join);
  join.node = "b";
  join.node_rank = 0;
  server.connect(join);
  const auto nodes = server.runs->snapshot(server.now, "x")->nodes;
  EXPECT_EQ(nodes.at(0).node, "b");
  EXPECT_EQ(nodes.at(0).node_rank, 0);
  EXPECT_EQ(nodes.at(1).node_rank, 2);
  EXPECT_FALSE(nodes.at(1).first_rank);
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
  EXPECT_EQ(server.runs->memory_bytes(), 0u);
  // Who had connected before the port was closed says so now.
  const MemberId late = server.connect(of_run("y"));
  EXPECT_EQ(server.last<ServerStopping>(late).why, "rdzvd was stopped by SIGTERM");
  EXPECT_TRUE(server.closed.contains(late));
  EXPECT_EQ(server.runs->size(), 0u);
}

}  // namespace
}  // namespace ddprun::roster
