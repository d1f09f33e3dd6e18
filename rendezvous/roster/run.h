// The membership of one run: who is a node of it, when a round begins and with whom, what a failure
// means, when it is over.
//
// Pure: messages and times go in, effects with their reasons come out. A run goes through
//
//   forming   nodes gather (or stop their workers) until a round can begin
//   running   a round's workers run
//   settling  a worker has failed: all were told to stop, and within 200 ms it is decided what the
//             cause was. Nodes are asked for a sign of life, because a node that is lost explains
//             failures elsewhere; when all have answered nothing is left to wait for
//   resuming  the server is new, and the nodes of a running round come back one by one
//             (a failure is settled when they have, or are lost: all have to hear of it)
//   over      everybody who is here was told; forget the run (but for last_word())
//
// Nodes that have a round, or wait for one, may be cut off and come back; those that were started
// anew may belong to another job under the same run id. Join::former tells the ones from the
// others: a run that has lost all its nodes is kept for the former ones only, and whoever was
// started anew while the nodes of a round come back is a stranger until they are all there or a
// round is formed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rendezvous/protocol/run_record.h"
#include "rendezvous/roster/snapshot.h"
#include "rendezvous/roster/terms.h"
#include "rendezvous/roster/types.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::roster {

class Run {
 public:
  // `first` gives the terms that all other nodes must agree to; it is not a member yet: call
  // on_join. `server` must outlive the run. `run_directory`: Welcome::run_directory, unless `first`
  // has been a node of this run on another server.
  Run(const Server& server, const Join& first, std::string run_directory, Time now);

  // A run of a server that was lost. Its nodes are awaited for longest_return().
  Run(const Server& server, const protocol::RunRecord& record, Time now);

  // Each returns all that is to be done now. Messages of connections that are not (or no longer)
  // members are ignored.
  Decision on_join(Time now, const Peer& from, const Join& join);
  Decision on_message(Time now, MemberId from, const protocol::AgentMessage& message);
  // The connection has ended; `how` is "its connection was reset".
  Decision on_lost(Time now, MemberId member, const std::string& how);
  Decision on_cancel(Time now, const std::string& by);
  Decision on_time(Time now);

  bool over() const { return phase_ == Phase::over; }
  // When it is over: what all were told, unless they have all gone by themselves.
  const std::optional<protocol::ServerMessage>& last_word() const { return last_word_; }
  // When it is over: the strangers, who were not told and belong to the next run of this id.
  std::vector<Arrival> take_strangers() { return std::exchange(strangers_, {}); }
  // All nodes are gone, and some may come back.
  bool has_begun() const { return round_.has_value(); }  // a round, in which it may have workers
  bool deserted() const { return members_.empty() && challengers_.empty(); }
  // Whether a node that was part of `former` is part of this run. A new server learns from the
  // first one that comes back which run it is, unless a round has begun with others.
  bool takes(const protocol::Former& former) const;
  const std::string& run_directory() const { return run_directory_; }
  // Its server was lost, and all its nodes may still be on their way.
  bool awaits_all(Time now) const { return now < all_back_by_; }
  // For so long after its end somebody who has not heard of it may still come back.
  nanoseconds longest_return() const;
  // Connected members, and connections that wait for being one.
  std::vector<MemberId> connections() const;
  std::size_t number_of_connections() const { return members_.size() + challengers_.size(); }
  std::size_t members() const { return members_.size(); }
  // The node name; nothing if it is no member.
  std::optional<std::string> node_of(MemberId member) const;
  const Terms& terms() const { return terms_; }
  nanoseconds age(Time now) const { return now - began_; }
  Snapshot snapshot(Time now, bool with_workers = true) const;
  // About, with all that it keeps.
  std::size_t memory_bytes() const;
  // For the next server. As long as mark() is the same, so is what of it counts.
  protocol::RunRecord record() const;
  struct Mark {
    std::string run_directory;
    int next_round = 0;
    int restarts = 0;
    bool round_over = false;
    std::ptrdiff_t finished = 0;
    bool operator==(const Mark&) const = default;
  };
  Mark mark() const;

 private:
  enum class Phase { forming, running, settling, resuming, over };

  struct Member {
    Join join;
    Peer from;
    Time heard{};
    int unanswered = 0;                // pings in a row
    std::optional<std::uint64_t> ask;  // a Ping it has to answer until answer_by
    Time answer_by{};
    std::optional<int> busy_round;  // it may have workers of this round; see set_busy_round
    std::optional<int> node_rank;   // in the last round
    std::vector<protocol::Started::Worker> workers;
    std::size_t bytes = 0;  // of it in member_bytes_
    bool newcomer = true;   // it was no part of the run before it came
  };
  struct RoundNode {
    std::optional<MemberId> member;  // none: it has gone, or is away
    bool finished = false;
    bool away = false;  // not back yet since the server was lost
    int pid = 0;        // of its ddprun; 0: not known
  };
  struct Round {
    protocol::Assignment assignment;
    std::string server;            // the id of the one that began it; member ids are that one's
    std::vector<RoundNode> nodes;  // by node rank
    std::size_t bytes = 0;         // about
    std::optional<protocol::Restart> ended_by = {};  // for the next server, if it may need that
  };
  struct Failure {
    Time at{};  // when the worker ended, by the server's clock
    MemberId member = 0;
    Cause cause;
    std::optional<int> exit_code = {};  // no restart would help
  };
  // Wants the node rank that `holder` has; decided when `holder` has answered or not.
  struct Challenger {
    Peer from;
    Join join;
    MemberId holder = 0;
  };
  using Members = std::map<MemberId, Member>;
  using Names = std::unordered_map<std::string, std::size_t>;

  // run_members.cpp: who comes and goes
  void join(Time now, const Peer& from, const Join& join);
  std::optional<MemberId> holder_of(std::optional<int> node_rank) const;
  Member& admit(Time now, const Peer& from, const Join& join);
  void welcome(MemberId id, const std::string& reason);
  void ask_namesakes(Time now, MemberId newcomer, const Join& join);
  void ask(Time now, MemberId id);
  void answered(MemberId id);
  void lose(Time now, MemberId id, Cause::Kind kind, const std::string& how);
  void admit_challengers(Time now, MemberId holder);
  void count(Member& member);
  void set_busy_round(Member& member, std::optional<int> round);
  void erase(Members::iterator member);
  void misuse(Time now, MemberId id, const std::string& what);
  bool has_just_slept(Time now);  // or was stopped: this server
  void keep_alive(Time now);
  void drop_silent(Time now);

  // run_returns.cpp: who comes back, and who does not
  bool is_plausible(const Join& join) const;
  bool take_back(Time now, const Peer& from, const Join& join);
  void adopt(const protocol::Former& former);
  void learn(const protocol::Former& former);
  void resume(Time now, const protocol::Held& held);
  void await(Time now, RoundNode& node);
  void begin_resuming(Time now);
  RoundNode* place_of(const Join& join);
  void come_back(Time now, const Join& join);
  protocol::Restart restart_for(const Join& join) const;
  bool wants_place(const Member& member, std::size_t node_rank) const;
  bool joined_anew(std::size_t node_rank) const;
  // An agent takes an embedded server for lost with the connection, and comes back to none.
  bool may_return(Cause::Kind kind) const {
    return kind == Cause::Kind::node_lost && !server_.embedded;
  }
  bool is_stranger(const Member& member) const { return taking_back_ && member.newcomer; }
  std::size_t own_members() const;
  std::optional<std::size_t> awaited() const;
  std::optional<std::size_t> replaced() const;
  void lose_who_stays_away(Time now);
  void finish_resuming(Time now);
  void release_strangers();

  // run_rounds.cpp: rounds begin and end
  void begin_forming(Time now, Cause cause);
  void form(Time now);
  void begin_round(Time now, std::string why);
  void tell_store_clients(MemberId host);
  std::string store_host(MemberId member) const;
  void grow(Time now);
  void tell_differences();
  Gathering gathering(Time now) const;
  void tell_waiting(Time now);
  Time tell_again_at() const;  // though nothing has changed; somebody was told
  void tell_spares(Time now);

  // run_failures.cpp: what failed, and what follows
  void on(Time now, MemberId id, const protocol::Started& message);
  void on(Time now, MemberId id, const protocol::Failed& message);
  void on(Time now, MemberId id, const protocol::Drained& message);
  void on(Time now, MemberId id, const protocol::Finished& message);
  void on(Time now, MemberId id, const protocol::Leave& message);
  void on(Time now, MemberId id, const protocol::Pong& message);
  std::optional<std::string> wrong(MemberId id, const protocol::Failed& message) const;
  void end_for_all(MemberId id, const protocol::Leave& message);
  bool is_spare(MemberId id) const;
  void call_roll(std::vector<MemberId> members);
  void settle(Time now);
  void on_node_gone(Time now, MemberId id, Cause cause);
  void end_if_finished();
  bool needs_all() const;
  void abort(Cause cause, int exit_code, const std::string& why);
  void end(protocol::ServerMessage word, const std::string& why);

  Decision decide(Time now);
  std::optional<Time> wake_at() const;
  void wake_for_waiting(std::optional<Time>& at) const;
  RoundNode* round_node(MemberId id);
  void send(std::vector<MemberId> to, protocol::ServerMessage message, std::string reason);
  void close(std::vector<MemberId> members, std::string reason);
  std::vector<MemberId> round_members() const;
  std::string budget_text() const;
  // "node b"; "node b (node rank 1)" where another node of the last round has the same name.
  std::string called(const std::string& node, std::optional<int> node_rank) const;
  std::string name_of(const std::string& node, std::optional<int> node_rank) const;
  // "4 on a, b, 2 on c": of the node ranks that have each value.
  std::string values_text(const std::map<std::string, std::vector<int>>& by_value) const;

  const Server& server_;
  Terms terms_;
  std::string run_directory_;
  bool adopted_;  // run_directory_ was given by another server
  Time began_;
  Phase phase_ = Phase::forming;
  Time since_;  // of the phase
  Members members_;
  // Of members_, so that no message costs a look at all of them.
  std::size_t member_bytes_ = 0;
  std::size_t busy_ = 0;      // those with a busy_round
  std::set<MemberId> asked_;  // those with an `ask`
  Names names_;               // how many have this node name
  std::vector<Challenger> challengers_;
  std::vector<Effect> effects_;

  std::optional<Round> round_;  // the present one, or the last one
  int next_round_ = 0;
  int restarts_ = 0;
  std::optional<Cause> last_failure_;
  bool told_programs_ = false;
  bool told_arguments_ = false;
  bool told_nproc_ = false;

  // While forming.
  bool wants_last_call_ = true;
  std::optional<Time> last_call_at_;

  Time back_by_{};             // for nodes that are away
  nanoseconds back_within_{};  // the whole of that time
  Time all_back_by_ = Time::min();
  bool taking_back_ = false;       // resuming, or settling before all are back
  std::optional<Time> return_by_;  // for nodes that were lost

  std::optional<protocol::ServerMessage> last_word_;
  std::vector<Arrival> strangers_;

  // While settling, and until the next round begins.
  std::optional<Failure> failure_;
  Time failure_arrived_{};
  Time settle_by_{};
  std::set<MemberId> unheard_;
  std::uint64_t roll_call_ = 0;
  bool restart_spent_ = false;  // by failure_

  std::uint64_t last_ping_ = 0;
  Time next_keep_alive_;
  std::optional<Time> woke_;  // after a sleep
  bool changed_ = true;       // somebody who waits should hear of it
  std::optional<Time> told_waiting_;
};

}  // namespace ddprun::roster
