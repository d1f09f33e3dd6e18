// Roster messages as JSON: there and back, and what is refused with which words.
#include "rendezvous/protocol/roster_codec.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "rendezvous/protocol/roster_frames.h"

namespace ddprun::protocol {
namespace {

using namespace std::chrono_literals;

Assignment two_nodes() {
  return {.round = 3,
          .restarts = 1,
          .max_restarts = 2,
          .world_size = 5,
          .nodes = {{.member = 7, .node = "a", .nproc = 3}, {.member = 9, .node = "b", .nproc = 2}},
          .store_host = "10.0.0.1",
          .store_port = 31234,
          .why = "all 2 nodes are here",
          .store_key = "56ef"};
}

Join full_join() {
  return {.run = "job 7",
          .node = "n\"ode\\1",
          .pid = 4711,
          .version = "0.1.0",
          .program = "abc",
          .addresses = {"10.0.0.1", "fd00::1"},
          .local_addr = "10.0.0.9",
          .store_port = 40000,
          .nproc = 8,
          .node_rank = 1,
          .min_nodes = 2,
          .max_nodes = 4,
          .max_restarts = 3,
          .static_ranks = true,
          .grow = false,
          .hosts_server = true,
          .join_timeout = 600s,
          .last_call_timeout = 30s,
          .reconnect_timeout = 5s,
          .keep_alive_interval = 1s,
          .keep_alive_max_attempt = 4,
          .held = Held{.server = "s1", .member = 7, .finished = true, .assignment = two_nodes()},
          .former = Former{.server = "s2", .run_directory = "s1-3"},
          .store_key = "78ab"};
}

Cause worker_failed() {
  return {.kind = Cause::Kind::worker_failed,
          .text = "rank 4 on b: SIGSEGV",
          .node = "b",
          .rank = 4,
          .local_rank = 1,
          .signal = 11,
          .lines = {"one", "two"},
          .how = "SIGSEGV (segmentation fault)",
          .absent = {0, 3},
          .silent_too = {1}};
}

template <class Message>
std::string json_of(const Message& message) {
  std::string bytes;
  encode_opening(bytes, kRosterProtocol);
  encode(bytes, message);
  FrameParser parser;
  parser.feed(bytes);
  const auto json = parser.next();
  return json ? std::string(*json) : "no frame: " + parser.error();
}

// Every kind of message with every member set to something else than its default.
std::vector<AgentMessage> agent_messages() {
  return {full_join(),
          Started{.round = 3, .workers = {{10, "GPU 0"}, {11, "CPU"}}},
          Failed{.round = 3,
                 .rank = 4,
                 .local_rank = 1,
                 .code = 3,
                 .age = 5ms,
                 .lines = {"bad"},
                 .exit_code = 3,
                 .how = "exit code 3",
                 .absent = {0},
                 .silent_too = {2}},
          Drained{.round = 3, .store_port = 5},
          Finished{.round = 3},
          Leave{.why = "stopped after 5 s (--timeout)", .exit_code = 124},
          Pong{.id = 12},
          StacksDone{.id = 13, .path = "/tmp/x", .failed = "no gdb"},
          AskStatus{.run = "r"},
          AskCancel{.run = "r", .by = "me"},
          AskStacks{.run = "r"},
          Challenge{.number = "12ab"},
          Answer{.proof = "34cd"}};
}

std::vector<ServerMessage> server_messages() {
  return {
      Welcome{.member = 7,
              .server = "s1",
              .embedded = true,
              .server_host = "a",
              .server_version = "0.1.0",
              .ping_interval = 5s,
              .ping_attempts = 4,
              .run_directory = "x1"},
      Waiting{.text = "t",
              .spare = true,
              .here = 1,
              .needed = 3,
              .nodes = {"a"},
              .missing_ranks = {1, 2},
              .waited = 3s,
              .left = 597s},
      two_nodes(),
      Stop{.round = 3, .why = "w"},
      Restart{.round = 3, .cause = worker_failed(), .restarts = 1, .max_restarts = 2, .why = "w"},
      Abort{.round = 3, .cause = worker_failed(), .exit_code = 139, .why = "w"},
      Closed{.why = "w"},
      Refused{.why = "w"},
      Ping{.id = 4},
      TakeStacks{.id = 5},
      Notice{.text = "n"},
      ServerStopping{.why = "w"},
      StatusAnswer{.runs = boost::json::parse(R"([{"id":"r"}])")},
      CancelAnswer{.text = "told 2 nodes"},
      StacksAnswer{.nodes = {{"a", "/tmp/x", {}}, {"b", {}, "gone"}}},
      Challenge{.number = "12ab"},
      Answer{.proof = "34cd"},
      StoreClients{.round = 3, .addresses = {"10.0.0.1", "fd00::1"}},
      Elsewhere{.endpoint = "10.0.0.2:29400", .why = "it is the head"}};
}

TEST(RosterCodec, EveryAgentMessageComesBackWithEveryMember) {
  ASSERT_EQ(agent_messages().size(), std::variant_size_v<AgentMessage>);
  for (const AgentMessage& message : agent_messages()) {
    const std::string json = json_of(message);
    const auto back = decode_agent_message(json);
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_EQ(back->index(), message.index());
    EXPECT_EQ(json_of(*back), json);
  }
}

std::vector<Record> records() {
  RunRecord run{.terms = {.run = "r",
                          .node = "a",
                          .pid = 7,
                          .version = "0.1.0",
                          .min_nodes = 1,
                          .max_nodes = 2,
                          .max_restarts = 3,
                          .static_ranks = true,
                          .grow = false,
                          .join_timeout = 600s,
                          .last_call_timeout = 30s,
                          .reconnect_timeout = 5s,
                          .ping_interval = 6s,
                          .ping_attempts = 4},
                .run_directory = "x1",
                .next_round = 4,
                .restarts = 1,
                .last_failure = worker_failed()};
  run.round = {.server = "s1", .assignment = two_nodes(), .nodes = {{7, false}, {8, true}}};
  run.begun_by = "10.0.0.7";
  run.round->ended_by =
      Restart{.round = 3, .cause = worker_failed(), .restarts = 1, .max_restarts = 2, .why = "w"};
  const EndRecord end{.run = "r",
                      .run_directory = "x1",
                      .keep = 20s,
                      .abort = Abort{.round = 3, .cause = worker_failed(), .exit_code = 3}};
  return {run, end};
}

TEST(RosterCodec, EveryRecordComesBackWithEveryMember) {
  ASSERT_EQ(records().size(), std::variant_size_v<Record>);
  for (const Record& record : records()) {
    const std::string json = encode(record);
    const auto back = decode_record(json);
    ASSERT_TRUE(back) << json << back.error().text;
    EXPECT_EQ(back->index(), record.index());
    EXPECT_EQ(encode(*back), json);
  }
}

// What a head of this version has left is read by that of another one.
TEST(RosterCodec, TheTextOfARecordStaysAsItIs) {
  auto run = std::get<RunRecord>(records()[0]);
  run.last_failure.reset();
  run.round.reset();
  const std::string text =
      R"({"type":"run","run":"r","node":"a","pid":7,"version":"0.1.0","min_nodes":1,"max_nodes":2,)"
      R"("max_restarts":3,"static":true,"grow":false,"join_timeout_ns":600000000000,)"
      R"("last_call_timeout_ns":30000000000,"reconnect_timeout_ns":5000000000,)"
      R"("ping_interval_ns":6000000000,"ping_attempts":4,"run_directory":"x1","next_round":4,)"
      R"("restarts":1,"begun_by":"10.0.0.7"})";
  EXPECT_EQ(encode(Record(run)), text);
  EXPECT_TRUE(decode_record(text));
  const auto older = decode_record(text.substr(0, text.find(",\"begun_by")) + "}");
  ASSERT_TRUE(older) << older.error().text;
  EXPECT_EQ(std::get<RunRecord>(*older).begun_by, std::nullopt);
}

TEST(RosterCodec, ARecordThatDoesNotFitTogetherIsRefused) {
  auto run = std::get<RunRecord>(records()[0]);
  run.next_round = run.round->assignment.round;
  EXPECT_FALSE(decode_record(encode(Record(run)))) << "the round would be begun twice";
  run = std::get<RunRecord>(records()[0]);
  run.round->nodes.pop_back();
  EXPECT_FALSE(decode_record(encode(Record(run))));
  auto end = std::get<EndRecord>(records()[1]);
  end.closed = Closed{"w"};
  EXPECT_FALSE(decode_record(encode(Record(end)))) << "how did it end?";
}

TEST(RosterCodec, EveryServerMessageComesBackWithEveryMember) {
  ASSERT_EQ(server_messages().size(), std::variant_size_v<ServerMessage>);
  for (const ServerMessage& message : server_messages()) {
    const std::string json = json_of(message);
    const auto back = decode_server_message(json);
    ASSERT_TRUE(back) << json << back.error().text;
    EXPECT_EQ(back->index(), message.index());
    EXPECT_EQ(json_of(*back), json);
  }
}

TEST(RosterCodec, AJoinIsReadAsItWasMeant) {
  const auto back = decode_agent_message(json_of(AgentMessage(full_join())));
  ASSERT_TRUE(back) << back.error().text;
  const Join& join = std::get<Join>(*back);
  EXPECT_EQ(join.node, "n\"ode\\1");
  EXPECT_EQ(join.addresses, (std::vector<std::string>{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(join.node_rank, 1);
  EXPECT_EQ(join.join_timeout, 600s);
  EXPECT_TRUE(join.static_ranks);
  ASSERT_TRUE(join.held);
  EXPECT_EQ(join.held->assignment.nodes.at(1).node, "b");
  ASSERT_TRUE(join.former);
  EXPECT_EQ(join.former->server, "s2");
  EXPECT_EQ(join.former->run_directory, "s1-3");
}

TEST(RosterCodec, WhatIsOptionalMayBeMissing) {
  Join join = full_join();
  join.held.reset();
  join.former.reset();
  join.node_rank.reset();
  const std::string json = json_of(AgentMessage(join));
  EXPECT_EQ(json.find("held"), std::string::npos);
  const auto back = decode_agent_message(json);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_FALSE(std::get<Join>(*back).node_rank);
  EXPECT_FALSE(std::get<Join>(*back).former);
  EXPECT_TRUE(decode_agent_message(R"({"type":"status","run":null})"));
}

TEST(RosterCodec, UnknownMembersAreIgnored) {
  const auto back = decode_agent_message(R"({"later":{"a":[1]},"type":"pong","id":5})");
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(std::get<Pong>(*back).id, 5u);
}

std::string error_of(std::string_view json) {
  const auto back = decode_agent_message(json);
  return back ? "it was taken" : back.error().text;
}

TEST(RosterCodec, AMistakeIsToldWithItsMemberAndWhatWasFound) {
  EXPECT_EQ(error_of(R"({"type":"pong","id":"x"})"),
            "pong: \"id\" is a string, an integer from 0 to 9223372036854775807 is needed");
  EXPECT_EQ(error_of(R"({"type":"drained","round":1.5,"store_port":1})").substr(0, 24),
            "drained: \"round\" is 1.5E");
  EXPECT_EQ(error_of(R"({"type":"drained","round":1,"store_port":70000})"),
            "drained: \"store_port\" is 70000, an integer from 1 to 65535 is needed");
  EXPECT_EQ(error_of(R"({"type":"drained","round":-1,"store_port":1})"),
            "drained: \"round\" is -1, an integer from 0 to 100000000 is needed");
  EXPECT_EQ(error_of(R"({"type":"finished"})"), "finished: \"round\" is missing");
  EXPECT_EQ(error_of(R"({"type":"cancel","run":"","by":"x"})"), "cancel: \"run\" is empty");
  EXPECT_EQ(error_of(R"({"type":"cancel","run":"a\nb","by":"x"})"),
            "cancel: \"run\" has a control character in it");
  EXPECT_EQ(error_of(R"({"type":"started","round":0,"workers":[{"pid":1,"device":"d"},7]})"),
            "started: \"workers[1]\" is 7, an object is needed");
  EXPECT_EQ(error_of(R"({"type":"started","round":0,"workers":[{"pid":true,"device":"d"}]})"),
            "started.workers[0]: \"pid\" is true, an integer from 0 to 100000000 is needed");
  EXPECT_EQ(error_of(R"({"type":"leave","why":{}})"),
            "leave: \"why\" is an object, a string is needed");
}

TEST(RosterCodec, WhatIsNoMessageIsTold) {
  EXPECT_EQ(error_of("[]"), "a roster message is an array, an object is needed");
  EXPECT_EQ(error_of("{}"), "a roster message has no \"type\"");
  EXPECT_EQ(error_of(R"({"type":1})"), "a roster message's \"type\" is 1, a string is needed");
  EXPECT_EQ(error_of(R"({"type":"dance"})"), "a message of type \"dance\" is not known here");
  EXPECT_EQ(error_of(R"({"type":"answer"})"), "answer: \"proof\" is missing");
  EXPECT_NE(error_of("{]").find("is not JSON"), std::string::npos);
  EXPECT_NE(error_of("{\"type\":\"leave\",\"why\":\"\xff\"}").find("is not JSON"),
            std::string::npos);
}

TEST(RosterCodec, DepthAndLengthsAreBounded) {
  EXPECT_NE(error_of(R"({"type":"pong","id":1,"x":)" + std::string(1000, '[') +
                     std::string(1000, ']') + "}")
                .find("is not JSON"),
            std::string::npos);
  EXPECT_EQ(error_of(R"({"type":"leave","why":")" + std::string(5000, 'x') + "\"}"),
            "leave: \"why\" has 5000 bytes, at most 4096 are allowed");
}

TEST(RosterCodec, WhatAWorkerWroteAlwaysFits) {
  Failed failed{.signal = 6, .lines = {std::string("\xff\x01\n\"\\ \xc3\xa4 \xed\xa0\x80")}};
  failed.lines.push_back(std::string(2047, 'x') + "\xc3\xa4");
  for (int i = 0; i < 100; ++i) failed.lines.push_back("line " + std::to_string(i));
  const auto cut = decode_agent_message(json_of(AgentMessage(failed)));
  ASSERT_TRUE(cut) << cut.error().text;
  EXPECT_EQ(std::get<Failed>(*cut).lines.size(), 64u);
  EXPECT_EQ(std::get<Failed>(*cut).lines.back(), "line 99") << "the last ones count";

  failed.lines.resize(2);
  const auto back = decode_agent_message(json_of(AgentMessage(failed)));
  ASSERT_TRUE(back) << back.error().text;
  const auto& lines = std::get<Failed>(*back).lines;
  EXPECT_EQ(lines[0], "\uFFFD\x01\n\"\\ \u00e4 \uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(lines[1], std::string(2047, 'x')) << "no half character is left";
}

TEST(RosterCodec, ANameThatWouldBeRefusedIsMadePrintable) {
  Join join = full_join();
  join.node = "a\tb";
  join.version = "";
  const auto back = decode_agent_message(json_of(AgentMessage(join)));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(std::get<Join>(*back).node, "a?b");
  EXPECT_EQ(std::get<Join>(*back).version, "?");
}

TEST(RosterCodec, AnAssignmentOfFourThousandNodesFitsIntoAFrame) {
  Assignment large = two_nodes();
  large.nodes.assign(4096, {.member = std::uint64_t{1} << 60, .node = std::string(128, 'x')});
  EXPECT_TRUE(decode_server_message(json_of(ServerMessage(large))));
}

TEST(RosterCodec, APlaceIsCountedFromTheNodesBefore) {
  const auto place = place_of(two_nodes(), 9);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->node_rank, 1);
  EXPECT_EQ(place->first_rank, 3);
  EXPECT_EQ(place->nproc, 2);
  EXPECT_EQ(place->nodes, 2);
  EXPECT_EQ(place->world_size, 5);
  EXPECT_FALSE(place_of(two_nodes(), 8));
}

TEST(RosterCodec, AnotherProtocolNumberIsToldInWords) {
  EXPECT_FALSE(refuse_number(kRosterProtocol, "0.1.0"));
  const auto refused = refuse_number(2, "0.1.0");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why,
            "the server's ddprun 0.1.0 speaks roster protocol 1, this node's speaks 2: install the "
            "same version of ddprun on all nodes");
}

}  // namespace
}  // namespace ddprun::protocol
