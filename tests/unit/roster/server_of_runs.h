// A server without sockets and clock: what each connection was told, in order.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/roster/runs.h"

namespace ddprun::roster {

using namespace std::chrono_literals;
using namespace protocol;

// A Join of a node of a run of `min` to `max` nodes.
inline Join node(const std::string& name, int min, int max) {
  return {.run = "r",
          .node = name,
          .pid = 100,
          .version = "0.1.0",
          .program = "abc",
          .addresses = {"10.0.0." + std::to_string(1 + name.size())},
          .store_port = 30000,
          .nproc = 2,
          .min_nodes = min,
          .max_nodes = max,
          .join_timeout = 600s,
          .last_call_timeout = 30s,
          .reconnect_timeout = 5s};
}

class ServerOfRuns {
 public:
  explicit ServerOfRuns(RunsOptions options = {}, bool embedded = false, bool durable = false)
      : options_(options), embedded_(embedded), durable_(durable) {
    start();
  }
  static ServerOfRuns durable() { return ServerOfRuns({}, false, true); }

  // The server's process is killed and another one begins: all connections are gone.
  void kill_and_start() {
    for (MemberId id = 1; id <= last_; ++id) closed.insert(id);
    pings_.clear();
    mute = false;
    start();
  }

  // The same, and the new one finds what the old one has written.
  void fail_over() {
    kill_and_start();
    std::vector<Record> records;
    for (const auto& [key, value] : kept) {
      const auto record = decode_record(value);
      ASSERT_TRUE(record) << key << ": " << record.error().text;
      records.push_back(*record);
    }
    carry_out(runs->restore(now, records));
  }

  // Says the message on a new connection.
  MemberId connect(const AgentMessage& first, bool trusted = true,
                   const std::string& network = "") {
    const MemberId id = ++last_;
    carry_out(
        runs->on_message(now, {id, "10.0.0.9:" + std::to_string(id), trusted, network}, first));
    return id;
  }
  void say(MemberId id, const AgentMessage& message) {
    ASSERT_FALSE(closed.contains(id)) << "connection " << id << " was closed by the server";
    carry_out(runs->on_message(now, {id, "x", true}, message));
  }
  void reset(MemberId id) { carry_out(runs->on_closed(now, id, "its connection was reset")); }
  // Lets the time pass, with every timer that falls due.
  void pass(nanoseconds span) {
    const Time end = now + span;
    while (wake_at && *wake_at <= end) {
      now = std::max(now, *wake_at);
      carry_out(runs->on_time(now));
      EXPECT_TRUE(!wake_at || *wake_at > now) << "a timer that is due again at once";
      if (wake_at && *wake_at <= now) break;
    }
    now = end;
  }
  // As pass(), and every connection answers pings.
  void pass_alive(nanoseconds span) {
    const Time end = now + span;
    while (now < end) {
      pass(std::min<nanoseconds>(1s, end - now));
      answer_pings();
    }
  }
  void answer_pings(MemberId id) {
    for (const std::uint64_t ping : std::exchange(pings_[id], {}))
      if (!closed.contains(id)) say(id, Pong{ping});
  }
  void answer_pings() {
    for (const auto& [id, pings] : std::map(pings_)) answer_pings(id);
  }

  // All messages of one kind to `id`, oldest first.
  template <class Message>
  std::vector<Message> all(MemberId id) const {
    std::vector<Message> found;
    const auto it = told.find(id);
    if (it == told.end()) return found;
    for (const ServerMessage& message : it->second)
      if (const auto* each = std::get_if<Message>(&message)) found.push_back(*each);
    return found;
  }
  template <class Message>
  bool got(MemberId id) const {
    return !all<Message>(id).empty();
  }
  // The last one; it is an error if there is none.
  template <class Message>
  Message last(MemberId id) const {
    const auto found = all<Message>(id);
    EXPECT_FALSE(found.empty()) << "connection " << id << " got no such message";
    return found.empty() ? Message{} : found.back();
  }
  NodePlace place(MemberId id) const {
    const auto place = place_of(last<Assignment>(id), id);
    EXPECT_TRUE(place) << "connection " << id << " is not in its round";
    return place.value_or(NodePlace{});
  }

  // What the agent of this connection says when it comes back: it has been a node of that run.
  Former former(MemberId id) const {
    const Welcome welcome = last<Welcome>(id);
    return {.server = welcome.server, .run_directory = welcome.run_directory};
  }
  // The same with the round that it has, and its workers still run.
  Join holding(Join join, MemberId id) const {
    join.former = former(id);
    join.held =
        Held{.server = last<Welcome>(id).server, .member = id, .assignment = last<Assignment>(id)};
    return join;
  }

  std::unique_ptr<Runs> runs;
  Time now{};
  std::optional<Time> wake_at;
  std::map<MemberId, std::vector<ServerMessage>> told;
  std::set<MemberId> closed;
  std::function<void(MemberId, const ServerMessage&)> watch;  // sees everything that is sent
  std::size_t messages = 0;                                   // sent so far, but pings
  std::map<std::string, std::string> kept;                    // for the next server
  std::size_t writes = 0;                                     // decisions that have changed it
  bool mute = false;  // what is decided is written, and not told: the server is about to be lost

  // Of the present server.
  std::string id() const { return "s" + std::to_string(starts_); }

 private:
  void keep(const Decision& decision) {
    EXPECT_TRUE(durable_ || decision.changes.empty());
    writes += decision.changes.empty() ? 0 : 1;
    for (const Change& change : decision.changes) {
      kept.erase(change.key);
      if (change.value) kept[change.key] = *change.value;
    }
  }
  void carry_out(Decision decision) {
    keep(decision);
    if (mute) return;
    for (const Effect& effect : decision.effects) {
      if (const auto* close = std::get_if<Close>(&effect)) {
        EXPECT_FALSE(close->reason.empty());
        for (const MemberId id : close->members) {
          closed.insert(id);
          pings_.erase(id);
        }
        continue;
      }
      const Send& send = std::get<Send>(effect);
      EXPECT_FALSE(send.reason.empty()) << type_name(send.message);
      for (const MemberId id : send.to) {
        EXPECT_FALSE(closed.contains(id)) << type_name(send.message) << " to a closed connection";
        if (const auto* ping = std::get_if<Ping>(&send.message)) {
          pings_[id].push_back(ping->id);
        } else {
          ++messages;
        }
        told[id].push_back(send.message);
        if (watch) watch(id, send.message);
      }
    }
    wake_at = decision.wake_at;
  }

  void start() {
    runs = std::make_unique<Runs>(Server{.id = "s" + std::to_string(++starts_),
                                         .host = "hub",
                                         .version = "0.1.0",
                                         .embedded = embedded_,
                                         .durable = durable_},
                                  options_);
    wake_at.reset();
  }

  RunsOptions options_;
  bool embedded_;
  bool durable_;
  int starts_ = 0;
  MemberId last_ = 0;
  std::map<MemberId, std::vector<std::uint64_t>> pings_;  // not answered
};

}  // namespace ddprun::roster
