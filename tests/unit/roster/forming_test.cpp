// How nodes meet: when a round begins, with whom, and what those who wait are told.
#include "tests/unit/roster/server_of_runs.h"

namespace ddprun::roster {
namespace {

Join static_node(const std::string& name, int rank, int nodes) {
  Join join = node(name, nodes, nodes);
  join.static_ranks = true;
  join.node_rank = rank;
  return join;
}

TEST(Forming, OneNodeIsAWholeWorld) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 1, 1));
  EXPECT_EQ(server.last<Welcome>(a).member, a);
  EXPECT_EQ(server.last<Welcome>(a).server_host, "hub");
  EXPECT_FALSE(server.last<Welcome>(a).run_directory.empty());
  const auto round = server.last<Assignment>(a);
  EXPECT_EQ(round.world_size, 2);
  EXPECT_EQ(round.store_port, 30000);
  EXPECT_FALSE(server.got<Waiting>(a)) << "there was nothing to wait for";
}

TEST(Forming, AStaticRoundBeginsWithTheLastNodeAndGivesTheRanksAsked) {
  ServerOfRuns server;
  const MemberId b = server.connect(static_node("b", 1, 2));
  EXPECT_EQ(server.last<Waiting>(b).text,
            "run r: 1 of 2 nodes are here (b), node rank 0 is missing; waited 0 s, gives up in 600 "
            "s (join_timeout)");
  EXPECT_EQ(server.last<Waiting>(b).missing_ranks, std::vector<int>{0});
  const MemberId a = server.connect(static_node("a", 0, 2));
  EXPECT_EQ(server.place(a).node_rank, 0);
  EXPECT_EQ(server.place(b).node_rank, 1);
  EXPECT_EQ(server.place(b).first_rank, 2);
}

TEST(Forming, AllGetTheSameAssignment) {
  ServerOfRuns server;
  std::vector<MemberId> members;
  for (const std::string name : {"node10", "node2", "node1"}) {
    Join join = node(name, 3, 3);
    join.nproc = static_cast<int>(name.size()) - 4;
    members.push_back(server.connect(join));
  }
  for (const MemberId id : members) {
    const auto round = server.last<Assignment>(id);
    EXPECT_EQ(round.world_size, 4);
    ASSERT_EQ(round.nodes.size(), 3u);
    EXPECT_EQ(round.nodes[0].node, "node1");
    EXPECT_EQ(round.nodes[1].node, "node2");
    EXPECT_EQ(round.nodes[2].node, "node10");
  }
  EXPECT_EQ(server.last<Notice>(members[2]).text,
            "the nodes have different numbers of workers: 1 on node1, node2, 2 on node10");
  EXPECT_FALSE(server.got<Notice>(members[0])) << "one line for the job";
}

TEST(Forming, WhoWaitsHearsOfNothingNewLessOftenAfterAMinute) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 2, 2));
  server.pass_alive(61s);
  EXPECT_EQ(server.all<Waiting>(a).size(), 1u + 6u);
  server.pass_alive(120s);
  EXPECT_EQ(server.all<Waiting>(a).size(), 1u + 6u + 2u);
}

TEST(Forming, ARangeClosesAtTheLastCallOrWhenFull) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 2, 3));
  server.pass_alive(100s);
  const MemberId b = server.connect(node("b", 2, 3));
  EXPECT_NE(server.last<Waiting>(b).text.find("the round begins in 30 s"), std::string::npos)
      << server.last<Waiting>(b).text;
  server.pass_alive(29s);
  EXPECT_FALSE(server.got<Assignment>(a));
  server.pass_alive(1s);
  EXPECT_EQ(server.last<Assignment>(a).nodes.size(), 2u);

  ServerOfRuns full;
  const MemberId first = full.connect(node("a", 1, 2));
  EXPECT_FALSE(full.got<Assignment>(first));
  full.connect(node("b", 1, 2));
  EXPECT_TRUE(full.got<Assignment>(first)) << "the maximum closes at once";
}

TEST(Forming, ThoseWhoWaitHearOfEachChangeAndEveryTenSeconds) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 3, 3));
  EXPECT_EQ(server.all<Waiting>(a).size(), 1u);
  const MemberId b = server.connect(node("b", 3, 3));
  EXPECT_EQ(server.last<Waiting>(a).text,
            "run r: 2 of 3 nodes are here (a, b), 1 node is missing; waited 0 s, gives up in 600 s "
            "(join_timeout)");
  server.pass_alive(10s);
  EXPECT_EQ(server.all<Waiting>(a).size(), 3u);
  EXPECT_EQ(server.last<Waiting>(a).waited, 10s);
  server.reset(b);
  EXPECT_EQ(server.last<Waiting>(a).here, 1) << "a place is bound to its connection";
}

TEST(Forming, AtTheJoinTimeoutAllAreToldWhoIsMissing) {
  ServerOfRuns server;
  const MemberId c = server.connect(static_node("c", 2, 4));
  server.pass_alive(300s);
  const MemberId b = server.connect(static_node("b", 0, 4));
  server.pass_alive(300s);
  for (const MemberId id : {b, c}) {
    const auto abort = server.last<Abort>(id);
    EXPECT_EQ(abort.exit_code, 125);
    EXPECT_EQ(abort.cause.kind, Cause::Kind::timed_out);
    EXPECT_EQ(
        abort.why,
        "run r gave up after 600 s (join_timeout): 2 of 4 nodes are here (b, c), node ranks 1, "
        "3 are missing");
    EXPECT_TRUE(server.closed.contains(id));
  }
  EXPECT_EQ(server.runs->size(), 0u);
}

TEST(Forming, ADifferentNumberOfNodesIsRefusedAtOnceAndOthersGoOn) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 2, 2));
  const MemberId odd = server.connect(node("b", 3, 3));
  EXPECT_NE(server.last<Refused>(odd).why.find("node b says --nnodes 3, node a says --nnodes 2"),
            std::string::npos);
  EXPECT_TRUE(server.closed.contains(odd));
  server.connect(node("b", 2, 2));
  EXPECT_TRUE(server.got<Assignment>(a));
}

TEST(Forming, ADuplicateNodeRankIsRefusedWhenItsHolderAnswers) {
  ServerOfRuns server;
  const MemberId a = server.connect(static_node("a", 0, 2));
  const MemberId again = server.connect(static_node("b", 0, 2));
  EXPECT_FALSE(server.got<Refused>(again));
  server.answer_pings(a);
  const std::string why = server.last<Refused>(again).why;
  EXPECT_NE(why.find("node rank 0 of run r is taken: node a (10.0.0.9:1, pid 100) has it, node b "
                     "(10.0.0.9:2, pid 100) wants it too"),
            std::string::npos)
      << why;
  EXPECT_TRUE(server.closed.contains(again));
  server.pass_alive(2s);
  EXPECT_FALSE(server.closed.contains(a)) << "it has answered";
}

TEST(Forming, ASilentHolderOfANodeRankIsReplacedWithinASecond) {
  ServerOfRuns server;
  const MemberId old = server.connect(static_node("a", 0, 2));
  const MemberId returned = server.connect(static_node("a", 0, 2));
  server.pass(1s);
  EXPECT_TRUE(server.closed.contains(old));
  EXPECT_TRUE(server.got<Welcome>(returned));
  server.connect(static_node("b", 1, 2));
  EXPECT_EQ(server.place(returned).node_rank, 0);
}

TEST(Forming, ManyAgentsMayBearOneName) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("same", 2, 2));
  server.pass(3s);  // a is to show that it is alive
  const MemberId b = server.connect(node("same", 2, 2));
  EXPECT_NE(server.place(a).node_rank, server.place(b).node_rank);
  server.answer_pings();
  server.pass_alive(2s);
  EXPECT_TRUE(server.closed.empty());
}

TEST(Forming, ANodeThatCameBackUnderItsNameReplacesItsSilentSelf) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 2, 2));
  Join restarts = node("b", 2, 2);
  const MemberId b = server.connect(restarts);
  ASSERT_TRUE(server.got<Assignment>(b));
  server.pass(2s);
  restarts.pid = 200;
  const MemberId back = server.connect(restarts);
  server.answer_pings(a);
  server.pass(1s);
  EXPECT_TRUE(server.closed.contains(b));
  EXPECT_EQ(server.last<Restart>(a).cause.node, "b");
  server.say(a, Drained{0, 40000});
  EXPECT_EQ(server.place(back).node_rank, 1);
  EXPECT_EQ(server.last<Assignment>(back).restarts, 0);
}

TEST(Forming, TheServersHostIsNodeRankZero) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 2, 2));
  Join host = node("z", 2, 2);
  host.hosts_server = true;
  const MemberId z = server.connect(host);
  EXPECT_EQ(server.place(z).node_rank, 0);
  EXPECT_EQ(server.place(a).node_rank, 1);
}

TEST(Forming, TheStoresAddressIsOneThatOthersReach) {
  const auto store_host = [](std::vector<std::string> host, std::vector<std::string> other,
                             std::optional<std::string> local_addr) {
    ServerOfRuns server;
    Join a = node("a", 2, 2);
    a.addresses = std::move(host);
    a.local_addr = std::move(local_addr);
    const MemberId id = server.connect(a);
    Join b = node("b", 2, 2);
    b.addresses = std::move(other);
    server.connect(b);
    return server.last<Assignment>(id).store_host;
  };
  EXPECT_EQ(store_host({"127.0.0.1", "10.1.1.1"}, {"10.1.1.2"}, {}), "10.1.1.1");
  EXPECT_EQ(store_host({"127.0.0.1", "10.1.1.1"}, {"127.0.0.1"}, {}), "127.0.0.1");
  EXPECT_EQ(store_host({"10.1.1.1", "10.2.1.1"}, {"10.1.1.2"}, {}), "10.1.1.1");
  EXPECT_EQ(store_host({"10.1.1.1"}, {"10.1.1.2"}, "192.168.0.1"), "192.168.0.1");
}

TEST(Forming, DifferentProgramsAreAllowedAndSaidOnce) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 1, 2));
  Join other = node("b", 1, 2);
  other.program = "def";
  const MemberId b = server.connect(other);
  EXPECT_EQ(server.last<Notice>(a).text,
            "the nodes do not run the same program (checksums: abc on a, def on b)");
  EXPECT_FALSE(server.got<Notice>(b));
}

TEST(Forming, DifferentArgumentsAreSaidAndNodesOfOneNameToldApart) {
  ServerOfRuns server;
  Join first = node("vm", 1, 2), second = node("vm", 1, 2);
  first.arguments = "111";
  second.arguments = "222";
  const MemberId a = server.connect(first);
  server.connect(second);
  EXPECT_EQ(server.last<Notice>(a).text,
            "the nodes do not give the program the same arguments (checksums: 111 on vm (node "
            "rank 0), 222 on vm (node rank 1))");
}

TEST(Forming, WhatNobodyKnowsDoesNotDiffer) {
  ServerOfRuns server;
  Join first = node("a", 1, 2), second = node("b", 1, 2);
  first.arguments = "111";  // the other one is older
  second.program = "";
  const MemberId a = server.connect(first);
  server.connect(second);
  EXPECT_FALSE(server.got<Notice>(a));
}

TEST(Forming, TwoDdprunsOfOneHostAreToldApartWhereTheyContradict) {
  ServerOfRuns server;
  Join first = node("vm", 2, 2), second = node("vm", 3, 3);
  first.pid = 11;
  second.pid = 12;
  server.connect(first);
  EXPECT_EQ(server.last<Refused>(server.connect(second)).why,
            "node vm (pid 12) says --nnodes 3, node vm (pid 11) says --nnodes 2: all nodes of run "
            "r must say the same");
}

TEST(Forming, AThousandNodesCostAMessageEachAndNotAThousand) {
  ServerOfRuns server;
  std::vector<MemberId> members;
  for (int i = 0; i < 1000; ++i) {
    members.push_back(server.connect(node("node" + std::to_string(i), 1000, 1000)));
    server.pass(2ms);
  }
  for (const MemberId id : members) ASSERT_TRUE(server.got<Assignment>(id));
  EXPECT_EQ(server.last<Assignment>(members[0]).nodes[999].node, "node999");
  // Welcome, Assignment, and one Waiting a second for those who were there.
  EXPECT_LT(server.messages, 1000u * 2 + 2 * 1000 + 100);
}

}  // namespace
}  // namespace ddprun::roster
