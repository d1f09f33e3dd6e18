// Finds out whether this node hosts the server of its run, and hosts it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launcher/agent/agent.h"
#include "launcher/agent/slurm_host.h"
#include "launcher/membership/hosting.h"
#include "launcher/output/output.h"
#include "rendezvous/client/look_up.h"
#include "rendezvous/server/roster_server.h"

namespace ddprun::agent {

// Called from the event loop, or from inside find().
struct ServerHostHooks {
  // The server is at `host`, or will be. Comes again when this node has become its host.
  std::function<void(const std::string& host)> connect;
  // It is not known yet where to connect to.
  std::function<void(const std::string& why)> waits;
  // This node might host and cannot, but somebody else may; empty: now it does.
  std::function<void(const std::string& why)> cannot_host;
  // There is no hope, or the time is over. Nothing more comes.
  std::function<void(const std::string& why)> gave_up;
  std::function<void(const std::string& line)> say;
  std::string store_key;  // with TLS: of the store behind the server's port
};

// Used on the thread that runs `io` only.
class ServerHost {
 public:
  // Borrows all but `hooks`. Nothing is done yet.
  ServerHost(boost::asio::io_context& io, const Job& job, output::Output& output,
             ServerHostHooks hooks);

  // Looks the endpoint up, for `patience` at most, and listens there if this node is to host. Where
  // somebody else has the port it is tried again now and then, until stop_looking().
  void find(std::chrono::nanoseconds patience);
  void stop_looking();
  // The client has found that nobody listens there.
  void on_nobody_there();

  // Where the server is looked for: the endpoint's host, or what Slurm has for that name.
  const std::string& host() const { return question_.host; }
  // The endpoint's; where that is 0, what this node has got from the system.
  std::uint16_t port() const { return port_; }
  // This node listens, and whether the endpoint leads to it is not known yet.
  bool undecided() const { return undecided_; }
  // The server at the endpoint has answered. False: it is the one of this node, and connect() was
  // called anew.
  bool on_answer();

  // None while this node does not host.
  server::RosterServer* server() { return server_.get(); }
  const server::RosterServer* server() const { return server_.get(); }

 private:
  void ask_slurm();
  void find_host();
  void look_up();
  void on_slow_look_up();
  void on_found(Result<client::Addresses> found);
  Result<void> listen();
  void on_listening();
  void try_again();
  bool try_to_take_the_port();
  void watch_for_others();
  void host_it();
  void later(std::chrono::nanoseconds pause, void (ServerHost::*next)());
  void forget_timer();

  boost::asio::io_context& io_;
  const Job& job_;
  output::Output& output_;
  ServerHostHooks hooks_;
  membership::HostingQuestion question_;
  std::uint16_t port_;
  membership::Hosting hosting_;
  std::chrono::steady_clock::time_point deadline_;
  std::chrono::nanoseconds patience_{};
  std::optional<SlurmHost> slurm_host_;
  std::optional<client::LookUp> look_up_;
  std::unique_ptr<server::RosterServer> server_;
  bool undecided_ = false;
  boost::asio::steady_timer timer_;
  std::uint64_t wait_ = 0;  // the timer's latest; an earlier one's handler does nothing
};

}  // namespace ddprun::agent
