#include "rendezvous/server/roster_server.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "rendezvous/http/respond.h"
#include "rendezvous/server/roster_server_impl.h"

namespace ddprun::server {
namespace {

namespace asio = boost::asio;

std::string random_id() {
  std::uint64_t number = 0;
  // Eight bytes come whole, unless the kernel has just started.
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number =
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

WayIn way_in(const RosterServerOptions& options) {
  return {.needs_tls = options.tls != nullptr, .needs_certificate = options.needs_certificate};
}

RosterServerOptions with_id(RosterServerOptions options) {
  if (options.identity.id.empty()) options.identity.id = random_id();
  options.identity.guarded = options.token != nullptr;
  options.identity.durable = options.keeper != nullptr;
  return options;
}

}  // namespace

RosterServer::Impl::Impl(asio::io_context& io, RosterServerOptions options)
    : io_(io),
      options_(with_id(std::move(options))),
      log_(io, options_.log, options_.log_from),
      roster_(io, roster_options(), log_),
      pages_(io, page_options(), log_),
      end_timer_(io) {}

Result<void> RosterServer::Impl::listen() {
  auto port = options_.listener ? Server::serve(io_, port_options(), std::move(*options_.listener))
                                : Server::listen(io_, port_options());
  if (!port) return port.error();
  port_ = std::move(*port);
  return {};
}

ServerOptions RosterServer::Impl::port_options() {
  return {.address = options_.address,
          .port = options_.port,
          .port_advice = options_.port_advice,
          .limits = options_.limits,
          .store_limits = options_.store_limits,
          .handshake_timeout = options_.handshake_timeout,
          .max_connections = options_.max_connections,
          .serve_store = options_.store,
          // With TLS they need the store's key.
          .guarded = options_.token != nullptr && options_.tls == nullptr,
          .tls = options_.tls,
          .max_per_address = options_.max_per_address,
          .max_unfinished_per_address = options_.max_unfinished_per_address,
          .limit_advice = options_.limit_advice,
          .others = this,
          .shared_log = &log_};
}

RosterHostOptions RosterServer::Impl::roster_options() {
  roster::RunsOptions runs = options_.runs;
  runs.max_memory_bytes =
      std::min<std::uint64_t>(runs.max_memory_bytes, options_.max_memory_bytes / 2);
  return {.identity = options_.identity,
          .runs = runs,
          .handshake_timeout = options_.handshake_timeout,
          .max_memory_bytes = options_.max_memory_bytes / 4,
          .token = options_.token,
          .way_in = way_in(options_),
          .keeper = options_.keeper,
          .on_idle = [this] {
            if (done_) return end_when_told();
            if (options_.on_idle) options_.on_idle();
          }};
}

HttpHostOptions RosterServer::Impl::page_options() {
  return {.token = options_.token,
          .way_in = way_in(options_),
          .respond = [this](const http::Request& request) { return respond(request); },
          .timeout = options_.handshake_timeout,
          .max_memory_bytes = options_.max_memory_bytes / 4};
}

http::Response RosterServer::Impl::respond(const http::Request& request) const {
  if (const auto& where = roster_.elsewhere())
    if (const auto answer = http::respond_elsewhere(request, where->endpoint, where->why,
                                                    options_.tls ? "https" : "http"))
      return *answer;
  return http::respond(request, [this](const http::Wanted& wanted) { return view(wanted); });
}

void RosterServer::Impl::take_office(const std::vector<protocol::Record>& records) {
  options_.identity.id = random_id();
  roster_.take_office(options_.identity.id, records);
}

bool RosterServer::Impl::serves(protocol::Dialect dialect) const {
  return dialect == protocol::Dialect::kRoster ||
         (dialect == protocol::Dialect::kHttp && options_.http);
}

void RosterServer::Impl::take(protocol::Dialect dialect, Visitor visitor) {
  if (dialect == protocol::Dialect::kRoster)
    roster_.take(std::move(visitor));
  else
    pages_.take(std::move(visitor));
}

RosterServerStatistics RosterServer::Impl::statistics() const {
  return {.port = port_->statistics(),
          .roster_connections = roster_.connections(),
          .http_connections = pages_.connections(),
          .messages = roster_.messages(),
          .roster_dropped = roster_.dropped(),
          .tokens_refused = roster_.strangers() + pages_.strangers(),
          .refused = roster_.refused(),
          .http_requests = pages_.requests(),
          .memory_bytes = roster_.memory_bytes() + pages_.memory_bytes(),
          .runs = roster_.all().size()};
}

std::vector<roster::Snapshot> RosterServer::Impl::snapshots() const {
  return roster_.all().snapshots(std::chrono::steady_clock::now());
}

std::optional<http::HeadFigures> RosterServer::Impl::head_figures() const {
  if (options_.keeper == nullptr) return {};
  const Standing now = options_.keeper->standing();
  return http::HeadFigures{.is_head = now.serves, .terms = now.terms, .unwritten = now.unwritten};
}

http::View RosterServer::Impl::view(const http::Wanted& wanted) const {
  const RosterServerStatistics now = statistics();
  const auto time = std::chrono::steady_clock::now();
  std::vector<roster::Snapshot> shown;
  if (!wanted.run)
    shown = roster_.all().snapshots(time, wanted.most_runs, wanted.workers);
  else if (auto run = roster_.all().snapshot(time, *wanted.run))
    shown.push_back(std::move(*run));
  return {.host = options_.identity.host,
          .version = options_.identity.version,
          .embedded = options_.identity.embedded,
          .age = time - began_,
          .with_lines = options_.token != nullptr,
          .figures = {.store_connections = now.port.connections,
                      .roster_connections = now.roster_connections,
                      .http_connections = now.http_connections,
                      .accepted = now.port.accepted,
                      .strangers = now.port.strangers,
                      .turned_away = now.port.turned_away,
                      .accept_pauses = now.port.accept_pauses,
                      .store_dropped = now.port.dropped,
                      .roster_dropped = now.roster_dropped,
                      .over_address_limit = now.port.over_address_limit,
                      .addresses = now.port.addresses,
                      .most_per_address = now.port.most_per_address,
                      .tls_failed = now.port.tls_failed,
                      .tokens_refused = now.tokens_refused,
                      .refused = now.refused,
                      .store_requests = now.port.requests,
                      .roster_messages = now.messages,
                      .http_requests = now.http_requests,
                      .store_keys = now.port.keys,
                      .store_waiting = now.port.waiting,
                      .store_memory_bytes = now.port.memory_bytes,
                      .roster_memory_bytes = now.memory_bytes,
                      .head = head_figures()},
          .runs = std::move(shown),
          .runs_in_all = now.runs};
}

void RosterServer::Impl::shut_down(const std::string& why, std::chrono::milliseconds limit,
                                   std::function<void()> done) {
  done_ = std::move(done);
  port_->stop_listening();
  roster_.shut_down(why);
  // Not at once, even if nobody is left to be told: `done` never comes from inside a call.
  end_timer_.expires_after(idle() ? std::chrono::milliseconds(0) : limit);
  end_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && !self->closed_) self->end_when_told();
  });
}

void RosterServer::Impl::end_when_told() {
  const std::function<void()> done = std::exchange(done_, nullptr);
  log_.tell_rest();
  close();
  if (done) done();
}

void RosterServer::Impl::close() {
  if (std::exchange(closed_, true)) return;
  done_ = nullptr;
  log_.close();
  end_timer_.cancel();
  roster_.close();
  pages_.close();
  if (port_) port_->close();
}

Result<std::unique_ptr<RosterServer>> RosterServer::listen(asio::io_context& io,
                                                           RosterServerOptions options) {
  auto impl = std::make_shared<Impl>(io, std::move(options));
  if (const auto listening = impl->listen(); !listening) {
    impl->close();
    return listening.error();
  }
  return std::unique_ptr<RosterServer>(new RosterServer(std::move(impl)));
}

RosterServer::RosterServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

RosterServer::~RosterServer() {
  close();
}

std::uint16_t RosterServer::port() const {
  return impl_->port();
}

const std::string& RosterServer::id() const {
  return impl_->id();
}

void RosterServer::start_store_over() {
  impl_->start_store_over();
}

void RosterServer::admit_store_clients(const std::vector<std::string>& addresses) {
  impl_->admit_store_clients(addresses);
}

void RosterServer::set_token(std::shared_ptr<const guard::Token> token) {
  impl_->set_token(std::move(token));
}

void RosterServer::take_office(const std::vector<protocol::Record>& records) {
  impl_->take_office(records);
}

void RosterServer::stand_by(protocol::Elsewhere where) {
  impl_->stand_by(std::move(where));
}

bool RosterServer::idle() const {
  return impl_->idle();
}

std::vector<roster::Snapshot> RosterServer::snapshots() const {
  return impl_->snapshots();
}

RosterServerStatistics RosterServer::statistics() const {
  return impl_->statistics();
}

void RosterServer::shut_down(const std::string& why, std::chrono::milliseconds limit,
                             std::function<void()> done) {
  impl_->shut_down(why, limit, std::move(done));
}

void RosterServer::close() {
  impl_->close();
}

}  // namespace ddprun::server
