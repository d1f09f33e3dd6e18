#include "rendezvous/rdzvd/daemon.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "rendezvous/base/version.h"
#include "rendezvous/guard/handshake.h"
#include "rendezvous/guard/token.h"
#include "rendezvous/rdzvd/head.h"
#include "rendezvous/rdzvd/log.h"
#include "rendezvous/rdzvd/service_manager.h"
#include "rendezvous/roster/wording.h"
#include "rendezvous/server/connection_limits.h"
#include "rendezvous/server/listen_address.h"
#include "rendezvous/server/roster_server.h"

namespace ddprun::rdzvd {
namespace {

namespace asio = boost::asio;
using Token = std::shared_ptr<const guard::Token>;
using Tls = std::shared_ptr<guard::Tls>;

constexpr std::chrono::seconds kTellingLimit{3};  // for agents that do not read the last word
constexpr std::chrono::seconds kBetweenStatus{10};
constexpr std::size_t kIdLength = 16;
constexpr rlim_t kOwnFiles = 32;  // descriptors that are no connections

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// Returns how many files may be open.
rlim_t raise_file_limit() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_cur;
}

server::ConnectionLimits connection_limits(const Options& options, rlim_t files, bool tls) {
  server::ConnectionLimits limits = server::shared_out(
      options.max_connections != 0 ? options.max_connections
                                   : server::connections_for(files, kOwnFiles, tls));
  if (options.max_per_address) {
    limits.per_address = *options.max_per_address;
    limits.unfinished_per_address = (limits.per_address + 1) / 2;
  }
  if (options.max_unfinished_per_address)
    limits.unfinished_per_address = *options.max_unfinished_per_address;
  return limits;
}

// While a name is looked up, which may take long and cannot be interrupted: nobody is here yet who
// would have to be told.
void end_at_signals() {
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { ::_exit(0); });
  std::signal(SIGHUP, SIG_IGN);
}

class Daemon {
 public:
  Daemon(const Options& options, Token token, Tls tls)
      : options_(options),
        token_(std::move(token)),
        tls_(std::move(tls)),
        log_(options.log_level) {}
  int run();

 private:
  Result<void> listen();
  Result<void> make_head();
  Endpoint advertised() const;
  void end_when_told();
  void hear_signals();
  void on_signal(int signal);
  void read_again();
  void tell_status();

  const Options& options_;
  Token token_;
  Tls tls_;
  Log log_;
  ServiceManager manager_;
  asio::io_context io_{1};
  asio::signal_set signals_{io_};
  asio::steady_timer status_timer_{io_};
  std::unique_ptr<Head> head_;  // with --state
  std::unique_ptr<server::RosterServer> server_;
  std::string role_;  // with --state, for people
  Endpoint address_;
  bool ending_ = false;
  int to_end_ = 0;  // so many have not been told yet
};

int Daemon::run() {
  end_at_signals();
  if (const auto listening = listen(); !listening) {
    log_.write(server::Severity::error, listening.error().text);
    return 1;
  }
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) signals_.add(signal);
  hear_signals();
  std::printf("%s\n", to_text(address_).c_str());
  std::fflush(stdout);
  log_.info("rdzvd " + std::string(version()) + " listens on " + to_text(address_));
  manager_.tell("READY=1");
  tell_status();
  if (head_) {
    log_.info("the state is in " + etcd::to_text(*options_.state) +
              "; agents reach this rdzvd at " + to_text(advertised()));
    if (const std::string wrong = warning_of_advertised(advertised()); !wrong.empty())
      log_.warning(wrong);
    head_->start(to_text(advertised()));
  }
  io_.run();
  return 0;
}

Result<void> Daemon::listen() {
  const rlim_t files = raise_file_limit();
  auto handed = take_listener();
  if (!handed) return handed.error();
  server::ListenAddress where;
  if (!*handed) {
    auto found = server::find_listen_address(options_.listen.host, /*many_hosts=*/true);
    if (!found) return found.error();
    where = std::move(*found);
  }
  if (!where.note.empty()) log_.warning(where.note);
  address_.host = *handed ? (*handed)->address : where.address.empty() ? "0.0.0.0" : where.address;
  if (const auto made = make_head(); !made) return made.error();
  const auto limits = connection_limits(options_, files, tls_ != nullptr);
  server::RosterServerOptions options{
      .address = where.address,
      .port = options_.listen.port,
      .port_advice = "stop it, or give another port with --listen",
      .listener = std::move(*handed),
      .identity = {.host = host_name(), .version = std::string(version())},
      .http = options_.http,
      .store = options_.store.value_or(token_ == nullptr && tls_ == nullptr && !options_.state),
      .store_limits = {.max_memory_bytes = options_.max_memory_bytes / 4 * 3},
      .handshake_timeout = options_.handshake_timeout,
      .max_connections = limits.all,
      .token = token_,
      .tls = tls_,
      .needs_certificate = options_.tls.ca.has_value(),
      .max_per_address = limits.per_address,
      .max_unfinished_per_address = limits.unfinished_per_address,
      .max_memory_bytes = options_.max_memory_bytes / 4,
      .keeper = head_.get(),
      .log = [this](server::Severity severity,
                    const std::string& line) { log_.write(severity, line); },
      .log_from = log_.least()};
  auto server = server::RosterServer::listen(io_, std::move(options));
  if (!server) return server.error();
  server_ = std::move(*server);
  address_.port = server_->port();
  return {};
}

// Agents are sent from one rdzvd to the other, so each needs an address for them.
Result<void> Daemon::make_head() {
  if (!options_.state) return {};
  const bool everywhere = address_.host == "0.0.0.0" || address_.host == "::";
  if (everywhere && !options_.advertise)
    return Error{
        "--state: this rdzvd listens on all addresses, and the others cannot know at which "
        "one agents reach it; give --advertise HOST, or --listen HOST:PORT"};
  head_ = std::make_unique<Head>(
      io_,
      HeadOptions{.place = *options_.state,
                  .lease = options_.lease.value_or(kDefaultLease),
                  .id = guard::random_number().substr(0, kIdLength)},
      HeadHooks{.take_office =
                    [this](const auto& records) {
                      role_ = "the head, ";
                      server_->take_office(records);
                    },
                .stand_by =
                    [this](protocol::Elsewhere where) {
                      role_ = "standing by, ";
                      server_->stand_by(std::move(where));
                    },
                .log = [this](server::Severity severity,
                              const std::string& line) { log_.write(severity, line); }});
  return {};
}

Endpoint Daemon::advertised() const {
  Endpoint where = options_.advertise.value_or(address_);
  if (where.port == 0) where.port = address_.port;
  return where;
}

void Daemon::hear_signals() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    on_signal(signal);
    hear_signals();
  });
}

void Daemon::on_signal(int signal) {
  if (signal == SIGHUP) return read_again();
  const std::string name = signal == SIGTERM ? "SIGTERM" : "SIGINT";
  if (std::exchange(ending_, true)) {
    log_.info(name + " again: ending at once");
    server_->close();
    return io_.stop();
  }
  log_.info(name + ": telling all agents, then ending");
  manager_.tell("STOPPING=1\nSTATUS=telling all agents");
  status_timer_.cancel();
  to_end_ = head_ ? 2 : 1;
  server_->shut_down("rdzvd on " + host_name() + " was stopped by " + name, kTellingLimit,
                     [this] { end_when_told(); });
  if (head_) head_->resign([this] { end_when_told(); });
}

// The agents, and the other rdzvds.
void Daemon::end_when_told() {
  if (--to_end_ == 0) io_.stop();
}

// What cannot be read is left as it was.
void Daemon::read_again() {
  if (!options_.token_file && !tls_)
    return log_.info(
        "SIGHUP: there is neither a token file nor a certificate, so there is nothing to read "
        "again; restart rdzvd for other options (agents come back by themselves)");
  if (options_.token_file) {
    if (auto token = guard::Token::find(options_.token_file, {})) {
      token_ = std::move(*token);
      server_->set_token(token_);
      log_.info("SIGHUP: read " + *options_.token_file + " again; those who are connected stay");
    } else {
      log_.write(server::Severity::error, "SIGHUP: the old token stays: " + token.error().text);
    }
  }
  if (!tls_) return;
  if (const auto read = tls_->read_again()) {
    log_.info("SIGHUP: read " + *options_.tls.cert + " again; those who are connected stay");
  } else {
    log_.write(server::Severity::error, "SIGHUP: the old certificate stays: " + read.error().text);
  }
}

void Daemon::tell_status() {
  if (!manager_.exists() || ending_) return;
  const server::RosterServerStatistics now = server_->statistics();
  manager_.tell("STATUS=" + role_ + "listening on " + to_text(address_) + ", " +
                roster::count_text(now.runs, "run") + ", " +
                roster::count_text(now.roster_connections, "agent"));
  status_timer_.expires_after(kBetweenStatus);
  status_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tell_status();
  });
}

}  // namespace

Result<std::shared_ptr<guard::Tls>> tls_of(const Options& options) {
  if (const auto fit = guard::check_files(true, options.tls); !fit) return fit.error();
  if (!options.tls.any()) return std::shared_ptr<guard::Tls>();
  return guard::Tls::server(options.tls);
}

int serve(const Options& options, Token token, Tls tls) {
  return Daemon(options, std::move(token), std::move(tls)).run();
}

}  // namespace ddprun::rdzvd
