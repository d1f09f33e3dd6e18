// The shell around the roster: feeds roster::Runs with messages, ends of connections and time, and
// carries out what it decides. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rendezvous/roster/runs.h"
#include "rendezvous/server/deadlines.h"
#include "rendezvous/server/keeper.h"
#include "rendezvous/server/limited_log.h"
#include "rendezvous/server/roster_session.h"
#include "rendezvous/server/way_in.h"

namespace ddprun::server {

struct RosterHostOptions {
  roster::Server identity;
  roster::RunsOptions runs;
  std::chrono::milliseconds handshake_timeout{30'000};  // for the first message
  // How long a connection that was told its last word may stay open.
  std::chrono::milliseconds linger{2'000};
  // Of unfinished messages and unread answers, all together: over it whoever holds most is dropped.
  std::uint64_t max_memory_bytes = 1 << 30;
  std::uint64_t max_unsent_bytes = 8 << 20;   // of one connection
  std::shared_ptr<const guard::Token> token;  // of those who are served; none: all are
  WayIn way_in;
  // Of a durable server: it stands by until take_office(). Must outlive the host.
  Keeper* keeper = nullptr;
  std::function<void()> on_idle;  // no connection is left; from the event loop
};

class RosterHost final : private RosterSession::Owner {
 public:
  // `log` must outlive it.
  RosterHost(boost::asio::io_context& io, RosterHostOptions options, LimitedLog& log);
  ~RosterHost() { close(); }
  RosterHost(const RosterHost&) = delete;
  RosterHost& operator=(const RosterHost&) = delete;

  void take(Visitor visitor);
  // For connections that come from now on.
  void set_token(std::shared_ptr<const guard::Token> token) { options_.token = std::move(token); }

  std::size_t connections() const { return sessions_.size(); }
  const roster::Runs& all() const { return *runs_; }
  std::uint64_t messages() const { return messages_; }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t refused() const { return refused_; }
  // Closed because they did not show the token.
  std::uint64_t strangers() const { return strangers_; }
  // Of messages, answers and runs.
  std::uint64_t memory_bytes() const { return *memory_ + runs_->memory_bytes(); }

  // With a keeper: goes on, as the server `id`, with what the one before it has left.
  void take_office(const std::string& id, const std::vector<protocol::Record>& records);
  // Closes all connections and forgets all runs, without a word: they belong to somebody else. Who
  // comes is told `where`. Also when only that has changed.
  void stand_by(protocol::Elsewhere where);
  // Where the head is, while this one stands by.
  const std::optional<protocol::Elsewhere>& elsewhere() const { return elsewhere_; }

  // Tells all members that the server ends. Their connections end when they have read it, or
  // `linger` has passed; whoever has not said anything yet is closed now.
  void shut_down(const std::string& why);
  void close();

 private:
  using Id = roster::MemberId;
  using Session = std::unique_ptr<RosterSession>;

  void on_message(RosterSession& session, const protocol::AgentMessage& message) override;
  void on_stranger(RosterSession& session, const std::string& why) override;
  void on_nonsense(RosterSession& session, const std::string& why) override;
  void on_input(RosterSession& session) override;
  void on_gone(RosterSession& session, const std::string& how) override;

  void on_handshake_timeout(Id id);
  void on_linger_timeout(Id id);
  void drop(RosterSession& session, const std::string& why);
  void ended(Id id, const std::string& how);
  void forget(Id id);

  // What waits until something was written.
  struct Waiting {
    std::uint64_t writes = 0;  // so many have to be done
    std::vector<roster::Effect> effects;
  };
  bool may_speak() const {
    return options_.keeper == nullptr || (!elsewhere_ && options_.keeper->leads());
  }
  void send_elsewhere(RosterSession& session);
  void perform(roster::Decision decision);
  void write(roster::Decision& decision);
  void on_written();
  void release();
  void carry_out(const std::vector<roster::Effect>& effects);
  std::string encoded(const protocol::ServerMessage& message) const;
  void carry_out(const roster::Send& send, std::vector<Id>& touched);
  void carry_out(const roster::Close& close);
  void drop_slow(const std::vector<Id>& touched);
  void drop_largest();
  void note(const roster::Send& send);
  void say_idle();
  void wake_at(std::optional<roster::Time> at);
  RosterSession* find(Id id);

  boost::asio::io_context& io_;
  RosterHostOptions options_;
  // Of unfinished messages and unread answers.
  std::shared_ptr<std::uint64_t> memory_ = std::make_shared<std::uint64_t>(0);
  LimitedLog& log_;
  std::unique_ptr<roster::Runs> runs_;
  std::optional<protocol::Elsewhere> elsewhere_;
  std::deque<Waiting> waiting_;
  std::uint64_t writes_ = 0;   // asked for
  std::uint64_t written_ = 0;  // of these
  std::uint64_t office_ = 0;   // how often this one has taken or left it
  std::unordered_map<Id, Session> sessions_;
  Id last_id_ = 0;
  boost::asio::steady_timer timer_;
  std::optional<roster::Time> armed_;  // for when timer_ is set
  Deadlines<Id> handshakes_;
  Deadlines<Id> lingering_;
  std::uint64_t messages_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t strangers_ = 0;
  // Callbacks that have not run yet hold it weakly: with the host they have nothing to do.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ddprun::server
