// All runs of one server, by run id; and what rdzvctl asks. Pure, as Run.
//
// A run begins with its first node and is forgotten when it is over: everybody who is there was
// told then, and the next node with that id begins a new run. What its nodes were told is kept a
// while for those who were cut off, so that none of them begins, or joins, another run when it
// comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rendezvous/roster/changes.h"
#include "rendezvous/roster/last_words.h"
#include "rendezvous/roster/run.h"
#include "rendezvous/roster/shares.h"
#include "rendezvous/roster/snapshot.h"
#include "rendezvous/roster/stacks_requests.h"
#include "rendezvous/roster/types.h"

namespace ddprun::roster {

// One address, or network, may have begun half of the runs, which may take half of the memory.
struct RunsOptions {
  std::size_t max_runs = 1000;
  std::size_t max_members = 4096;  // of one run
  // About, of all runs. Over it nobody joins any more, and of a member's messages that is left out
  // which is for show: its devices, and the lines of a failed worker. Half of it is for one run.
  std::size_t max_memory_bytes = std::size_t{1} << 30;
  nanoseconds stacks_timeout = std::chrono::seconds(15);
};

class Runs {
 public:
  explicit Runs(Server server, RunsOptions options = {})
      : server_(std::move(server)),
        options_(options),
        stacks_(options.stacks_timeout),
        last_words_(options.max_memory_bytes / 8),
        changes_(server_.durable) {}
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  // A message of a connection, the first one included. Do not call it for a connection that a
  // Close was decided for, nor after on_closed.
  Decision on_message(Time now, const Peer& from, const protocol::AgentMessage& message);
  // A connection has ended by itself; `how` as Run::on_lost: "its connection was reset". Unknown
  // connections are no error.
  Decision on_closed(Time now, MemberId connection, const std::string& how);
  Decision on_time(Time now);
  // Goes on with what the server before this one has left; first, and on a durable server only.
  Decision restore(Time now, const std::vector<protocol::Record>& records);
  // The server is about to end: members are told why, and all runs are forgotten;
  // and so is whoever comes afterwards.
  Decision shut_down(const std::string& why);

  std::size_t size() const { return runs_.size(); }
  std::size_t connections() const { return run_of_.size(); }
  // What counts against max_memory_bytes.
  std::size_t memory_bytes() const { return shares_.bytes() + last_words_.memory_bytes(); }
  // By run id.
  // The first `most` of them, if not all; without their workers if those are not needed.
  std::vector<Snapshot> snapshots(Time now,
                                  std::size_t most = std::numeric_limits<std::size_t>::max(),
                                  bool with_workers = true) const;
  std::optional<Snapshot> snapshot(Time now, const std::string& run) const;

 private:
  struct Entry {
    Run run;
    std::optional<Time> wake_at;
    std::size_t bytes = 0;                  // of it in shares_
    std::string begun_by = {};              // Peer::network; empty: not known
    std::optional<Run::Mark> written = {};  // of the record that was written last
  };
  using Entries = std::map<std::string, Entry>;

  Decision first(Time now, const Peer& from, const protocol::AgentMessage& message);
  Decision of_member(Time now, Entries::iterator entry, MemberId from,
                     const protocol::AgentMessage& message);
  Decision join(Time now, const Peer& from, const Join& join);
  Entries::iterator begin(const std::string& id, Run run, const std::string& network);
  void forget(Entries::iterator entry);
  void erase(Entries::iterator entry);
  Decision after(Time now, Entries::iterator entry, Decision decision);
  Decision over(Time now, Entries::iterator entry);
  Decision complete(Decision decision);
  void set_wake(Decision& decision) const;

  // runs_admission.cpp: who may begin a run, or join one
  // There might be room if another run were forgotten: any, or one that `network` has begun.
  enum class Want { nothing, room, room_of_network };
  struct Refusal {
    std::string why;
    Want want = Want::nothing;
    std::string network = {};  // whose share is used up
  };
  std::optional<Refusal> refusal(Time now, const Peer& from, const Join& join) const;
  std::optional<Refusal> memory_refusal(const Join& join, std::size_t of_run) const;
  std::optional<Refusal> share_refusal(const std::string& network, const Join& join) const;
  bool has_room_for(const std::string& network, std::size_t bytes) const;
  std::optional<std::string> stale(const Join& join) const;
  // False: there is nothing to forget.
  bool make_room(const Refusal& refusal, const Join& join);

  // runs_questions.cpp: what rdzvctl asks
  Decision ask(Time now, const Peer& from, const protocol::AskStatus& question);
  Decision ask(Time now, const Peer& from, const protocol::AskCancel& question);
  Decision ask(Time now, const Peer& from, const protocol::AskStacks& question);
  Decision take(MemberId from, const protocol::StacksDone& done);
  std::optional<std::string> control_refusal(const Peer& from, const std::string& run,
                                             const std::string& what) const;
  void finish_stacks(Time now, Decision& decision);

  Server server_;
  RunsOptions options_;
  Entries runs_;
  std::unordered_map<MemberId, std::string> run_of_;  // by connection
  std::set<std::pair<Time, std::string>> wakes_;
  std::uint64_t begun_ = 0;  // runs
  StacksRequests stacks_;
  std::optional<std::string> embedded_run_;
  std::optional<std::string> stopping_;  // why
  Shares shares_;
  LastWords last_words_;
  Changes changes_;  // of the present decision
};

}  // namespace ddprun::roster
