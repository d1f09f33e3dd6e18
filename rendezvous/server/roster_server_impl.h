// The inside of RosterServer: one port, and the three that serve what comes to it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "rendezvous/http/view.h"
#include "rendezvous/server/http_host.h"
#include "rendezvous/server/limited_log.h"
#include "rendezvous/server/other_protocols.h"
#include "rendezvous/server/roster_host.h"
#include "rendezvous/server/roster_server.h"

namespace ddprun::server {

class RosterServer::Impl final : public std::enable_shared_from_this<RosterServer::Impl>,
                                 private OtherProtocols {
 public:
  Impl(boost::asio::io_context& io, RosterServerOptions options);
  Result<void> listen();

  std::uint16_t port() const { return port_->port(); }
  const std::string& id() const { return options_.identity.id; }
  void start_store_over() { port_->start_over(); }
  void admit_store_clients(const std::vector<std::string>& addresses) { port_->admit(addresses); }
  void set_token(const std::shared_ptr<const guard::Token>& token) {
    roster_.set_token(token);
    pages_.set_token(token);
  }
  void take_office(const std::vector<protocol::Record>& records);
  void stand_by(protocol::Elsewhere where) { roster_.stand_by(std::move(where)); }
  bool idle() const { return roster_.connections() == 0; }
  std::vector<roster::Snapshot> snapshots() const;
  RosterServerStatistics statistics() const;
  void shut_down(const std::string& why, std::chrono::milliseconds limit,
                 std::function<void()> done);
  void close();

 private:
  bool serves(protocol::Dialect dialect) const override;
  void take(protocol::Dialect dialect, Visitor visitor) override;
  std::size_t connections() const override { return roster_.connections() + pages_.connections(); }

  ServerOptions port_options();
  RosterHostOptions roster_options();
  HttpHostOptions page_options();
  http::Response respond(const http::Request& request) const;
  http::View view(const http::Wanted& wanted) const;
  std::optional<http::HeadFigures> head_figures() const;
  void end_when_told();

  boost::asio::io_context& io_;
  RosterServerOptions options_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  LimitedLog log_;
  RosterHost roster_;
  HttpHost pages_;
  std::unique_ptr<Server> port_;  // after what it hands over to
  boost::asio::steady_timer end_timer_;
  std::function<void()> done_;  // while shutting down
  bool closed_ = false;
};

}  // namespace ddprun::server
