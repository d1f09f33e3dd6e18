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
#include "launcher/agent/server_host.h"
#include "launcher/agent/store_host.h"
#include "launcher/agent/store_proxy.h"
#include "launcher/membership/member.h"
#include "launcher/output/output.h"
#include "rendezvous/client/roster_client.h"

namespace ddprun::agent {

// What NodeAgent does for the membership. Called from the event loop, or from inside a call.
struct MembershipHooks {
  std::function<void(const membership::BeginRound&)> begin_round;
  std::function<void(const std::string& why)> stop_round;
  std::function<void(const membership::NoteAttempt&)> note_attempt;
  std::function<void()> become_spare;
  // Writes the stacks of the workers and calls `done`, from the event loop, with their files.
  std::function<void(std::uint64_t id, std::function<void(Result<std::string>)> done)> take_stacks;
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
  // workers have ended. With an exit code the whole job ends with it.
  void leave(const std::string& why, std::optional<int> exit_code = {});

  // After `end`: keeps the store that this node hosts as long as other nodes' workers use it, but
  // not longer than `store_patience`, lets the others read their last message, closes everything
  // and calls `done`, all within two seconds more.
  void finish(std::chrono::nanoseconds store_patience, std::function<void()> done);
  // While finishing: the store is kept for nobody any more.
  void hurry();

  const std::optional<protocol::Assignment>& assignment() const { return member_.assignment(); }
  const std::string& run_directory() const { return member_.run_directory(); }
  // The server runs in this process.
  bool hosts_server() const { return host_.server() != nullptr; }

 private:
  ServerHostHooks host_hooks();
  void connect(const membership::Connect& order);
  void connect_to(const std::string& host);
  void on_event(client::RosterEvent event);
  void on_unreachable(const client::RosterUnreachable& unreachable);
  void obey(membership::Orders orders);
  void carry_out(const membership::Order& order);
  void say_join(const membership::SayJoin& order);
  void say_drained(const membership::SayDrained& order);
  void take_stacks(const membership::TakeStacks& order);
  void send(const protocol::AgentMessage& message);
  const std::string& server_host() const;
  bool hosts_fixed_store() const;
  bool others_are_stopping() const;
  Result<std::uint16_t> fresh_store();
  void admit(const protocol::StoreClients& clients);
  void cannot_host_store(const Error& error);
  void begin_round(membership::BeginRound order);
  Result<void> open_proxy(protocol::Assignment& assignment);
  void wake_at(std::optional<membership::Time> when);
  void later(std::chrono::milliseconds delay, std::function<void()> next);
  bool store_is_used() const;
  bool is_unheard() const;
  void finish_now();
  void wait_for_store();
  void end_server(const std::string& why);
  void end();

  boost::asio::io_context& io_;
  const Job& job_;
  output::Output& output_;
  MembershipHooks hooks_;
  const std::string store_key_;  // with TLS, of the stores that this node hosts; else empty
  membership::Member member_;
  ServerHost host_;
  std::chrono::steady_clock::time_point connect_until_;  // of the present Connect
  std::chrono::nanoseconds patience_{};                  // of it, in all
  bool was_member_ = false;
  std::shared_ptr<const guard::Tls> tls_;  // towards the server, with TLS
  std::unique_ptr<client::RosterClient> client_;
  client::RosterConnected connected_;
  bool is_connected_ = false;
  std::optional<std::string> left_;   // said goodbye, and why; the server closes
  std::unique_ptr<StoreHost> store_;  // none while the server's own store is used
  std::uint16_t store_port_ = 0;
  std::unique_ptr<StoreProxy> proxy_;  // with TLS, of the present round
  boost::asio::steady_timer wake_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer drain_;
  boost::asio::steady_timer store_poll_;
  std::function<void()> done_;
  std::chrono::steady_clock::time_point finishing_since_;
  std::chrono::steady_clock::time_point store_until_;
  bool server_told_ = false;   // that it ends
  bool server_ended_ = false;  // everybody else was told
  bool told_store_ = false;    // that it is kept
};

}  // namespace ddprun::agent
