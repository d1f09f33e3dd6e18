// This node among the others of its job: finds or hosts the server, joins, and stays a member.
//
// The shell around membership::Member: one connection, perhaps a server, a store and a timer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launcher/agent/agent.h"
#include "launcher/agent/store_host.h"
#include "launcher/membership/hosting.h"
#include "launcher/membership/member.h"
#include "launcher/output/output.h"
#include "rendezvous/client/look_up.h"
#include "rendezvous/client/roster_client.h"
#include "rendezvous/server/roster_server.h"

namespace ddprun::agent {

// What NodeAgent does for the membership. Called from the event loop, or from inside a call.
struct MembershipHooks {
  std::function<void(const membership::BeginRound&)> begin_round;
  std::function<void(const std::string& why)> stop_round;
  // The job is over for this node; no worker is left. Once, and nothing follows.
  std::function<void(const membership::Verdict&)> end;
  std::function<void(const std::string& line)> say;
};

// Used on the thread that runs `io` only.
class Membership {
 public:
  // Borrows all but `hooks`. Nothing is done yet.
  Membership(boost::asio::io_context& io, const Job& job, output::Output& output,
             MembershipHooks hooks);
  ~Membership();

  // Listens, if this node hosts the server, and joins.
  void join();

  // What became of the round's workers; see membership::Member.
  void on_started(protocol::Started started);
  void on_worker_failed(protocol::Failed failed);
  void on_round_ended(bool success);
  // This node ends for a reason of its own: the others are told at once, `end` follows when the
  // workers have ended.
  void leave(const std::string& why);

  // After `end`: lets the others read their last message, then closes everything and calls `done`.
  // Takes at most two seconds.
  void finish(std::function<void()> done);

  const std::optional<protocol::Assignment>& assignment() const { return member_.assignment(); }
  const std::string& run_directory() const { return member_.run_directory(); }
  // The server runs in this process.
  bool hosts_server() const { return server_ != nullptr; }

 private:
  void find_out_who_hosts();
  void on_endpoint_known(Result<client::Addresses> found);
  bool host(const membership::Hosting& hosting);
  void connect_to(const std::string& host);
  void on_event(client::RosterEvent event);
  void obey(membership::Orders orders);
  void carry_out(const membership::Order& order);
  void say_join(const membership::SayJoin& order);
  void say_drained(const membership::SayDrained& order);
  void send(const protocol::AgentMessage& message);
  Result<std::uint16_t> fresh_store();
  void cannot_host_store(const Error& error);
  void wake_at(std::optional<membership::Time> when);
  void later(std::chrono::milliseconds delay, std::function<void()> next);
  bool finish_now();

  boost::asio::io_context& io_;
  const Job& job_;
  output::Output& output_;
  MembershipHooks hooks_;
  membership::Member member_;
  std::chrono::nanoseconds patience_{};  // of the present Connect
  std::optional<client::LookUp> look_up_;
  std::string could_not_listen_;  // why this node, which might host, does not
  std::unique_ptr<server::RosterServer> server_;
  std::unique_ptr<client::RosterClient> client_;
  client::RosterConnected connected_;
  bool is_connected_ = false;
  bool left_ = false;                 // said goodbye; the server closes
  std::unique_ptr<StoreHost> store_;  // none while the server's own store is used
  std::uint16_t store_port_ = 0;
  boost::asio::steady_timer wake_;
  boost::asio::steady_timer pause_;
  std::function<void()> done_;
};

}  // namespace ddprun::agent
