// One node as a member of its run: what it says to the server, when its workers start and stop, and
// how the job ends for it.
//
// Pure: what has happened goes in, orders come out, which are to be carried out in their order.
// Whoever carries them out (the agent) owns sockets, workers and clocks.
//
//   idle      no workers, and none of the last round is left
//   running   a round's workers run
//   stopping  they were told to stop, or have failed
//   stopped   they have ended; Drained is due when the server has said that a new round follows
//   finished  they have all ended with 0, and the round goes on elsewhere
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launcher/membership/verdict.h"
#include "launcher/supervise/restart.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::membership {

using std::chrono::nanoseconds;
using supervise::Time;

// Connect and go on trying for so long; on_connected(), on_gave_up() or on_lost() follows.
struct Connect {
  nanoseconds patience{};
  nanoseconds pause{};  // before the first try
};
// Say Join, with what this node has to say of itself.
struct SayJoin {
  std::optional<protocol::Held> held;
  std::optional<protocol::Former> former = {};
  bool fresh_store = false;  // a round has used the store that was announced: open another one
};
struct Send {
  protocol::AgentMessage message;
};
// Start the workers of a round.
struct BeginRound {
  protocol::Assignment assignment;
  protocol::NodePlace place;
};
// A worker's failure has ended the round, and another one follows.
struct NoteAttempt {
  int round = 0;
  protocol::Cause cause;
  nanoseconds ran{};  // since the round began here
};
// Stop the workers.
struct StopRound {
  std::string why;
};
// Open a fresh, empty store and say Drained with its port.
struct SayDrained {
  int round = 0;
};
// Write the stacks of the workers and say StacksDone.
struct TakeStacks {
  std::uint64_t id = 0;
};
// The round has begun without this node, which would be the next one in it.
struct BecomeSpare {};
// Tell the user one line, unless he wants none.
struct Say {
  std::string text;
};
// The job is over. Nothing follows.
struct End {
  Verdict verdict;
};

using Order = std::variant<Connect, SayJoin, Send, BeginRound, NoteAttempt, StopRound, SayDrained,
                           TakeStacks, BecomeSpare, Say, End>;

struct Orders {
  std::vector<Order> list;
  std::optional<Time> wake_at;  // call on_time then
};

struct MemberOptions {
  std::string endpoint;             // for texts: "gpu01:29400"
  nanoseconds join_timeout{};       // for reaching the server at all
  nanoseconds reconnect_timeout{};  // for finding a daemon again
  nanoseconds restart_backoff{};    // as supervise::RestartOptions
  // Several rdzvds are one: that one head is lost soon says nothing about the next one.
  bool several_servers = false;
  // The first node of fixed ones, which is another one and hosts an embedded server, tells the user
  // in the same place what all would say alike.
  bool first_node_speaks = false;
};

class Member {
 public:
  explicit Member(MemberOptions options) : options_(std::move(options)) {}

  Orders start(Time now);

  Orders on_connected(Time now);
  Orders on_unreachable(Time now, const std::string& why);
  // This node, which might host the server, cannot; empty: it can. Told with whatever else there
  // is to tell of a server that is not reached.
  void set_cannot_host(std::string why) { cannot_host_ = std::move(why); }
  Orders on_message(Time now, const protocol::ServerMessage& message);
  Orders on_lost(Time now, const std::string& why);
  Orders on_gave_up(Time now, const std::string& why);

  // All workers of the round were started.
  Orders on_started(Time now, protocol::Started started);
  // The first worker of this node has failed, `failed.age` ago.
  Orders on_worker_failed(Time now, protocol::Failed failed);
  // No worker is left. `success`: all have ended with 0.
  Orders on_round_ended(Time now, bool success);
  // The stacks were written, or could not be.
  Orders on_stacks(Time now, protocol::StacksDone done);
  // This node ends for a reason of its own, and whoever says so stops the workers. With an exit
  // code the reason is the whole job's, which ends with it.
  Orders on_leaving(Time now, const std::string& why, std::optional<int> exit_code = {});
  // This node cannot go on as a member, for a reason of its own; running workers are stopped.
  Orders on_unable(Time now, const std::string& why);
  Orders on_time(Time now);

  // A round has begun here, and its assignment.
  const std::optional<protocol::Assignment>& assignment() const { return assignment_; }
  // The run directory's name that the server gave; empty before Welcome, settled with the first
  // round.
  const std::string& run_directory() const { return run_directory_; }

 private:
  enum class Link { none, connecting, joining, member };
  enum class Work { idle, running, stopping, stopped, finished };

  void on(Time now, const protocol::Welcome& message);
  void on(Time now, const protocol::Waiting& message);
  void on(Time now, const protocol::Assignment& message);
  void on(Time now, const protocol::Stop& message);
  void on(Time now, const protocol::Restart& message);
  void on(Time now, const protocol::Abort& message);
  void on(Time now, const protocol::Closed& message);
  void on(Time now, const protocol::Refused& message);
  void on(Time now, const protocol::ServerStopping& message);
  void on(Time now, const protocol::Notice& message);
  void on(Time now, const protocol::TakeStacks& message);
  template <class Unexpected>
  void on(Time, const Unexpected&) {}

  void give(Order order) { orders_.list.push_back(std::move(order)); }
  void say(std::string text) { give(Say{std::move(text)}); }
  void say_for_all(std::string text);
  void connect(Time now, nanoseconds patience, nanoseconds pause = {});
  void look_for_daemon(Time now, const std::string& why);
  void look_for_first_server(Time now, const std::string& why);
  void tell_round(Time now);
  void send_failed(Time now);
  void say_goodbye(const std::string& why, std::optional<int> exit_code = {});
  void stop_workers(const std::string& why);
  void drain(Time now);
  void end_with(Verdict verdict);
  void note_failure(Time now, const protocol::Restart& message);
  void say_unreachable(Time now);
  std::string also_cannot_host() const;
  void say_waiting(Time now);
  std::optional<Time> next_wake() const;
  Orders take();

  MemberOptions options_;
  Orders orders_;
  Link link_ = Link::none;
  Work work_ = Work::idle;
  std::optional<protocol::Welcome> welcome_;  // of the present or the last membership
  std::string run_directory_;
  std::optional<protocol::Assignment> assignment_;
  protocol::MemberId assigned_ = 0;  // who we were then
  std::string assigned_by_;          // Welcome::server
  bool shows_place_ = false;         // the present Join has `held`
  bool store_used_ = false;          // by a round, since it was announced
  // Of the present round. A server that takes us back hears them again; a failure is forgotten
  // when the server has said what follows from it.
  std::optional<protocol::Started> started_;
  std::optional<protocol::Failed> failed_;
  Time failed_at_{};              // when the worker ended
  bool restart_follows_ = false;  // the server has said so of this round
  std::optional<std::string> server_stopping_;
  std::optional<Verdict> end_;  // decided; told when no worker is left
  bool ended_ = false;

  Time began_{};                    // to look for the first server
  Time member_since_{};             // the last Welcome
  bool other_server_ = false;       // than the last time
  std::optional<Time> lost_since_;  // the daemon, but for memberships that did not last
  Time round_began_{};
  std::vector<supervise::Attempt> attempts_;  // failed rounds, for the pause between them
  std::optional<Time> drain_at_;
  std::string cannot_host_;
  std::string unreachable_;           // why there is no connection; empty: nothing to say
  std::string problem_;               // the client's last word about that
  std::string waiting_;               // what the server says of others, until it is told
  std::string spare_text_;            // the same, while this node is a spare: the last one
  std::optional<int> last_round_;     // that has begun here
  std::optional<int> last_restarts_;  // as the server counted them last
  Time waiting_since_{};
  Time connecting_since_{};
  Time say_at_{};
  nanoseconds pause_{};
};

}  // namespace ddprun::membership
