// The members of each roster message, once for both directions: a Visitor that writes them and one
// that reads and checks them (roster_codec.cpp). Only the codec includes this.
#pragma once

#include "rendezvous/protocol/roster_messages.h"
#include "rendezvous/protocol/run_record.h"

namespace ddprun::protocol {

// The longest texts and lists that are taken.
inline constexpr std::size_t kMaxName = 128;  // node, host, address, version
inline constexpr std::size_t kMaxRunId = 256;
inline constexpr std::size_t kMaxSentence = 4096;  // why, text
inline constexpr std::size_t kMaxPath = 4096;
inline constexpr std::size_t kMaxLine = 2048;  // of a worker's output
inline constexpr std::size_t kMaxLines = 64;
inline constexpr std::size_t kMaxNodes = 4096;
inline constexpr std::size_t kMaxStoreClients = 3 * kMaxNodes;
inline constexpr int kMaxCount = 100'000'000;  // ranks, rounds, restarts

// What names may not have in them.
inline bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// `T` or `const T`, as the Visitor wants it.
template <class Visitor, class T>
using Visited = typename Visitor::template Of<T>;

template <class V>
void fields(V& v, Visited<V, Cause>& m) {
  v.choice("kind", m.kind);
  v.text("text", m.text, kMaxSentence);
  v.name("node", m.node, kMaxName);
  v.number("rank", m.rank, 0, kMaxCount);
  v.number("local_rank", m.local_rank, 0, kMaxWorkers);
  v.number("code", m.code, 0, 255);
  v.number("signal", m.signal, 1, 64);
  v.texts("lines", m.lines, kMaxLines, kMaxLine);
  v.name("how", m.how, kMaxSentence);
  v.some_numbers("absent", m.absent, kMaxWorkers, 0, kMaxCount);
  v.some_numbers("silent_too", m.silent_too, kMaxWorkers, 0, kMaxCount);
}

template <class V>
void fields(V& v, Visited<V, AssignedNode>& m) {
  v.id("member", m.member);
  v.name("node", m.node, kMaxName);
  v.number("nproc", m.nproc, 1, kMaxWorkers);
}

template <class V>
void fields(V& v, Visited<V, Assignment>& m) {
  v.number("round", m.round, 0, kMaxCount);
  v.number("restarts", m.restarts, 0, kMaxCount);
  v.number("max_restarts", m.max_restarts, 0, kMaxCount);
  v.number("world_size", m.world_size, 1, kMaxCount);
  v.objects("nodes", m.nodes, kMaxNodes);
  v.name("store_host", m.store_host, kMaxName);
  v.number("store_port", m.store_port, 1, 65535);
  v.text("why", m.why, kMaxSentence);
  v.name("store_key", m.store_key, kMaxName);
}

template <class V>
void fields(V& v, Visited<V, Former>& m) {
  v.name("server", m.server, kMaxName);
  v.name("run_directory", m.run_directory, kMaxName);
  v.number("round", m.round, 0, kMaxCount);
  v.number("restarts", m.restarts, 0, kMaxCount);
}

template <class V>
void fields(V& v, Visited<V, Held>& m) {
  v.name("server", m.server, kMaxName);
  v.id("member", m.member);
  v.flag("finished", m.finished);
  v.object("assignment", m.assignment);
}

template <class V>
void fields(V& v, Visited<V, Join>& m) {
  v.name("run", m.run, kMaxRunId);
  v.name("node", m.node, kMaxName);
  v.number("pid", m.pid, 0, kMaxCount);
  v.name("version", m.version, kMaxName);
  v.text("program", m.program, kMaxName);
  v.text("arguments", m.arguments, kMaxName);
  v.texts("addresses", m.addresses, kMaxLines, kMaxName);
  v.name("local_addr", m.local_addr, kMaxName);
  v.number("store_port", m.store_port, 1, 65535);
  v.number("nproc", m.nproc, 1, kMaxWorkers);
  v.number("node_rank", m.node_rank, 0, kMaxCount);
  v.number("min_nodes", m.min_nodes, 1, kMaxCount);
  v.number("max_nodes", m.max_nodes, 1, kMaxCount);
  v.number("max_restarts", m.max_restarts, 0, kMaxCount);
  v.flag("static", m.static_ranks);
  v.flag("grow", m.grow);
  v.flag("hosts_server", m.hosts_server);
  v.span("join_timeout_ns", m.join_timeout);
  v.span("last_call_timeout_ns", m.last_call_timeout);
  v.span("reconnect_timeout_ns", m.reconnect_timeout);
  v.span("keep_alive_interval_ns", m.keep_alive_interval);
  v.number("keep_alive_max_attempt", m.keep_alive_max_attempt, 1, kMaxCount);
  v.object("held", m.held);
  v.object("former", m.former);
  v.name("store_key", m.store_key, kMaxName);
}

template <class V>
void fields(V& v, Visited<V, Started::Worker>& m) {
  v.number("pid", m.pid, 0, kMaxCount);
  v.text("device", m.device, kMaxName);
}

template <class V>
void fields(V& v, Visited<V, Started>& m) {
  v.number("round", m.round, 0, kMaxCount);
  v.objects("workers", m.workers, kMaxWorkers);
}

template <class V>
void fields(V& v, Visited<V, Failed>& m) {
  v.number("round", m.round, 0, kMaxCount);
  v.number("rank", m.rank, 0, kMaxCount);
  v.number("local_rank", m.local_rank, 0, kMaxWorkers);
  v.number("code", m.code, 0, 255);
  v.number("signal", m.signal, 1, 64);
  v.span("age_ns", m.age);
  v.texts("lines", m.lines, kMaxLines, kMaxLine);
  v.number("exit_code", m.exit_code, 1, 255);
  v.name("how", m.how, kMaxSentence);
  v.some_numbers("absent", m.absent, kMaxWorkers, 0, kMaxCount);
  v.some_numbers("silent_too", m.silent_too, kMaxWorkers, 0, kMaxCount);
}

template <class V>
void fields(V& v, Visited<V, Drained>& m) {
  v.number("round", m.round, 0, kMaxCount);
  v.number("store_port", m.store_port, 1, 65535);
}

template <class V>
void fields(V& v, Visited<V, Finished>& m) {
  v.number("round", m.round, 0, kMaxCount);
}

template <class V>
void fields(V& v, Visited<V, Leave>& m) {
  v.text("why", m.why, kMaxSentence);
  v.number("exit_code", m.exit_code, 1, 255);
}

template <class V>
void fields(V& v, Visited<V, Pong>& m) {
  v.id("id", m.id);
}

template <class V>
void fields(V& v, Visited<V, StacksDone>& m) {
  v.id("id", m.id);
  v.text("path", m.path, kMaxPath);
  v.text("failed", m.failed, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, AskStatus>& m) {
  v.name("run", m.run, kMaxRunId);
}

template <class V>
void fields(V& v, Visited<V, AskCancel>& m) {
  v.name("run", m.run, kMaxRunId);
  v.text("by", m.by, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, AskStacks>& m) {
  v.name("run", m.run, kMaxRunId);
}

template <class V>
void fields(V& v, Visited<V, Challenge>& m) {
  v.name("number", m.number, kMaxName);
}

template <class V>
void fields(V& v, Visited<V, Answer>& m) {
  v.name("proof", m.proof, kMaxName);
}

template <class V>
void fields(V& v, Visited<V, StoreClients>& m) {
  v.number("round", m.round, 0, kMaxCount);
  v.texts("addresses", m.addresses, kMaxStoreClients, kMaxName);
}

template <class V>
void fields(V& v, Visited<V, Welcome>& m) {
  v.id("member", m.member);
  v.name("server", m.server, kMaxName);
  v.flag("embedded", m.embedded);
  v.name("server_host", m.server_host, kMaxName);
  v.name("server_version", m.server_version, kMaxName);
  v.span("ping_interval_ns", m.ping_interval);
  v.number("ping_attempts", m.ping_attempts, 1, kMaxCount);
  v.text("run_directory", m.run_directory, kMaxName);
}

template <class V>
void fields(V& v, Visited<V, Waiting>& m) {
  v.text("text", m.text, kMaxSentence);
  v.flag("spare", m.spare);
  v.number("here", m.here, 0, kMaxCount);
  v.number("needed", m.needed, 0, kMaxCount);
  v.texts("nodes", m.nodes, kMaxLines, kMaxName);
  v.numbers("missing_ranks", m.missing_ranks, kMaxLines, 0, kMaxCount);
  v.span("waited_ns", m.waited);
  v.span("left_ns", m.left);
}

template <class V>
void fields(V& v, Visited<V, Stop>& m) {
  v.number("round", m.round, 0, kMaxCount);
  v.text("why", m.why, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, Restart>& m) {
  v.number("round", m.round, 0, kMaxCount);
  v.object("cause", m.cause);
  v.number("restarts", m.restarts, 0, kMaxCount);
  v.number("max_restarts", m.max_restarts, 0, kMaxCount);
  v.text("why", m.why, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, Abort>& m) {
  v.number("round", m.round, 0, kMaxCount);
  v.object("cause", m.cause);
  v.number("exit_code", m.exit_code, 0, 255);
  v.text("why", m.why, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, Closed>& m) {
  v.text("why", m.why, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, Refused>& m) {
  v.text("why", m.why, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, Ping>& m) {
  v.id("id", m.id);
}

template <class V>
void fields(V& v, Visited<V, TakeStacks>& m) {
  v.id("id", m.id);
}

template <class V>
void fields(V& v, Visited<V, Notice>& m) {
  v.text("text", m.text, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, ServerStopping>& m) {
  v.text("why", m.why, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, Elsewhere>& m) {
  v.name("endpoint", m.endpoint, 2 * kMaxName);
  v.text("why", m.why, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, StatusAnswer>& m) {
  v.value("runs", m.runs);
}

template <class V>
void fields(V& v, Visited<V, CancelAnswer>& m) {
  v.text("text", m.text, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, StacksAnswer::Node>& m) {
  v.name("node", m.node, kMaxName);
  v.text("path", m.path, kMaxPath);
  v.text("failed", m.failed, kMaxSentence);
}

template <class V>
void fields(V& v, Visited<V, StacksAnswer>& m) {
  v.objects("nodes", m.nodes, kMaxNodes);
}

template <class V>
void fields(V& v, Visited<V, RecordedNode>& m) {
  v.number("pid", m.pid, 0, kMaxCount);
  v.flag("finished", m.finished);
}

template <class V>
void fields(V& v, Visited<V, RecordedRound>& m) {
  v.name("server", m.server, kMaxName);
  v.object("assignment", m.assignment);
  v.objects("nodes", m.nodes, kMaxNodes);
  v.object("ended_by", m.ended_by);
}

template <class V>
void fields(V& v, Visited<V, Terms>& m) {
  v.name("run", m.run, kMaxRunId);
  v.name("node", m.node, kMaxName);
  v.number("pid", m.pid, 0, kMaxCount);
  v.name("version", m.version, kMaxName);
  v.number("min_nodes", m.min_nodes, 1, kMaxCount);
  v.number("max_nodes", m.max_nodes, 1, kMaxCount);
  v.number("max_restarts", m.max_restarts, 0, kMaxCount);
  v.flag("static", m.static_ranks);
  v.flag("grow", m.grow);
  v.span("join_timeout_ns", m.join_timeout);
  v.span("last_call_timeout_ns", m.last_call_timeout);
  v.span("reconnect_timeout_ns", m.reconnect_timeout);
  v.span("ping_interval_ns", m.ping_interval);
  v.number("ping_attempts", m.ping_attempts, 1, kMaxCount);
}

template <class V>
void fields(V& v, Visited<V, RunRecord>& m) {
  fields(v, m.terms);
  v.name("run_directory", m.run_directory, kMaxName);
  v.number("next_round", m.next_round, 0, kMaxCount);
  v.number("restarts", m.restarts, 0, kMaxCount);
  v.object("last_failure", m.last_failure);
  v.object("round", m.round);
  v.name("begun_by", m.begun_by, kMaxName);
}

template <class V>
void fields(V& v, Visited<V, EndRecord>& m) {
  v.name("run", m.run, kMaxRunId);
  v.name("run_directory", m.run_directory, kMaxName);
  v.span("keep_ns", m.keep);
  v.object("abort", m.abort);
  v.object("closed", m.closed);
}

}  // namespace ddprun::protocol
