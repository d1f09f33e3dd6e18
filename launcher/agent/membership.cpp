#include "launcher/agent/membership.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "launcher/agent/interfaces.h"
#include "launcher/agent/self_description.h"
#include "launcher/cli/version.h"

namespace ddprun::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookUpPause{500};
constexpr milliseconds kLastWords{2000};  // for others to read theirs
constexpr milliseconds kGoodbye{500};     // for the server to take ours
constexpr int kServerLines = 20;
constexpr const char* kPortAdvice = "stop it, or give the nodes another port";

membership::Time now() {
  return std::chrono::steady_clock::now();
}

const cli::RendezvousSpec& spec_of(const Job& job) {
  return job.spec.rendezvous;
}

bool is_fixed(const Job& job) {
  return spec_of(job).kind == cli::RendezvousSpec::Kind::fixed;
}

membership::MemberOptions member_options(const Job& job) {
  return {.endpoint = cli::text_of(spec_of(job).endpoint.value),
          .join_timeout = spec_of(job).conf.join_timeout,
          .reconnect_timeout = spec_of(job).conf.reconnect_timeout,
          .restart_backoff = job.spec.restart_backoff};
}

// A loopback endpoint means that all nodes are on this host; the store then listens there only.
bool all_on_this_host(const Job& job, const std::string& local_address) {
  const std::string& host = spec_of(job).endpoint.value.host;
  return membership::is_loopback(local_address) &&
         (host == "localhost" || membership::is_loopback(host));
}

}  // namespace

Membership::Membership(boost::asio::io_context& io, const Job& job, output::Output& output,
                       MembershipHooks hooks)
    : io_(io),
      job_(job),
      output_(output),
      hooks_(std::move(hooks)),
      member_(member_options(job)),
      wake_(io),
      pause_(io) {}

Membership::~Membership() = default;

void Membership::join() {
  obey(member_.start(now()));
}

void Membership::on_started(protocol::Started started) {
  obey(member_.on_started(now(), std::move(started)));
}

void Membership::on_worker_failed(protocol::Failed failed) {
  obey(member_.on_worker_failed(now(), std::move(failed)));
}

void Membership::on_round_ended(bool success) {
  obey(member_.on_round_ended(now(), success));
}

void Membership::leave(const std::string& why) {
  obey(member_.on_leaving(now(), why));
}

// ---- who hosts the server ----

void Membership::find_out_who_hosts() {
  const cli::RendezvousSpec& spec = spec_of(job_);
  const bool certainly_not =
      spec.conf.is_host == false ||
      (is_fixed(job_) && spec.node_rank->value != 0 && !spec.conf.is_host.value_or(false));
  if (certainly_not) return connect_to(spec.endpoint.value.host);
  look_up_.emplace(io_, spec.endpoint.value.host, [this](Result<client::Addresses> found) {
    on_endpoint_known(std::move(found));
  });
}

void Membership::on_endpoint_known(Result<client::Addresses> found) {
  const cli::RendezvousSpec& spec = spec_of(job_);
  if (!found) {
    const std::string why =
        "'" + spec.endpoint.value.host + "' cannot be looked up: " + found.error().text;
    if (now() >= job_.timings.begun + patience_)
      return obey(member_.on_gave_up(
          now(), cli::text_of(spec.endpoint.value) + " could not be reached: " + why));
    obey(member_.on_unreachable(now(), why));
    return later(kLookUpPause, [this] { find_out_who_hosts(); });
  }
  membership::HostingQuestion question{.fixed = is_fixed(job_),
                                       .node_rank = spec.node_rank ? spec.node_rank->value : 0,
                                       .is_host = spec.conf.is_host,
                                       .host = spec.endpoint.value.host,
                                       .local_addresses = interface_addresses()};
  for (const auto& address : *found) question.addresses.push_back(address.to_string());
  const membership::Hosting hosting = membership::decide_hosting(question);
  if (!hosting.listen) return connect_to(spec.endpoint.value.host);
  if (host(hosting)) return connect_to(hosting.connect_to);
  if (hosting.may_be_taken) return connect_to(spec.endpoint.value.host);
  obey(member_.on_gave_up(now(), "cannot host the rendezvous: " + could_not_listen_));
}

bool Membership::host(const membership::Hosting& hosting) {
  server::RosterServerOptions options;
  options.address = hosting.address;
  options.port = spec_of(job_).endpoint.value.port;
  options.port_advice = kPortAdvice;
  options.identity = {
      .id = "", .host = job_.host, .version = std::string(cli::version()), .embedded = true};
  // With given node ranks the workers' store is behind the same port, as with torchrun.
  options.store = is_fixed(job_);
  options.log = [this, left = kServerLines](server::Severity severity,
                                            const std::string& line) mutable {
    const bool wanted =
        severity >= server::Severity::warning || job_.spec.verbosity == cli::Verbosity::verbose;
    if (wanted && left-- > 0) output_.note("ddprun: rendezvous: " + line);
  };
  options.on_idle = [this] { finish_now(); };
  auto server = server::RosterServer::listen(io_, std::move(options));
  if (!server) {
    could_not_listen_ = server.error().text;
    return false;
  }
  server_ = std::move(*server);
  if (!hosting.notice.empty()) hooks_.say(hosting.notice);
  return true;
}

void Membership::connect_to(const std::string& host) {
  look_up_.reset();
  client_ = std::make_unique<client::RosterClient>(
      io_, client::RosterClientOptions{.host = host, .port = spec_of(job_).endpoint.value.port},
      [this](client::RosterEvent event) { on_event(std::move(event)); });
  client_->connect(patience_);
}

// ---- what the connection says ----

void Membership::on_event(client::RosterEvent event) {
  if (auto* connected = std::get_if<client::RosterConnected>(&event)) {
    connected_ = std::move(*connected);
    is_connected_ = true;
    return obey(member_.on_connected(now()));
  }
  if (const auto* message = std::get_if<protocol::ServerMessage>(&event))
    return obey(member_.on_message(now(), *message));
  is_connected_ = false;
  if (const auto* unreachable = std::get_if<client::RosterUnreachable>(&event))
    return obey(member_.on_unreachable(now(), unreachable->why));
  if (const auto* gave_up = std::get_if<client::RosterGaveUp>(&event)) {
    const bool hosts = gave_up->stranger && !could_not_listen_.empty();
    return obey(member_.on_gave_up(
        now(), hosts ? "cannot host the rendezvous: " + could_not_listen_ : gave_up->why));
  }
  if (finish_now()) return;
  obey(member_.on_lost(now(), std::get<client::RosterLost>(event).why));
}

// ---- orders ----

void Membership::obey(membership::Orders orders) {
  wake_at(orders.wake_at);
  for (const membership::Order& order : orders.list) carry_out(order);
}

void Membership::carry_out(const membership::Order& order) {
  if (const auto* connect = std::get_if<membership::Connect>(&order)) {
    patience_ = connect->patience;
    if (!client_) return find_out_who_hosts();
    return client_->connect(patience_);
  }
  if (const auto* join = std::get_if<membership::SayJoin>(&order)) return say_join(*join);
  if (const auto* message = std::get_if<membership::Send>(&order)) return send(message->message);
  if (const auto* round = std::get_if<membership::BeginRound>(&order))
    return hooks_.begin_round(*round);
  if (const auto* stop = std::get_if<membership::StopRound>(&order))
    return hooks_.stop_round(stop->why);
  if (const auto* drained = std::get_if<membership::SayDrained>(&order))
    return say_drained(*drained);
  if (const auto* stacks = std::get_if<membership::TakeStacks>(&order))
    return obey(member_.on_stacks(
        now(), {.id = stacks->id, .path = {}, .failed = "this ddprun cannot do that yet"}));
  if (const auto* say = std::get_if<membership::Say>(&order)) return hooks_.say(say->text);
  hooks_.end(std::get<membership::End>(order).verdict);
}

void Membership::say_join(const membership::SayJoin& order) {
  if (store_port_ == 0) {
    const auto port = fresh_store();
    if (!port) return cannot_host_store(port.error());
    store_port_ = *port;
  }
  const bool everywhere = membership::is_loopback(connected_.local_address) &&
                          !all_on_this_host(job_, connected_.local_address);
  protocol::Join join = join_of(job_, connected_.local_address,
                                everywhere ? interface_addresses() : std::vector<std::string>{});
  join.store_port = store_port_;
  join.hosts_server = hosts_server();
  join.held = order.held;
  send(join);
}

void Membership::say_drained(const membership::SayDrained& order) {
  const auto port = fresh_store();
  if (!port) return cannot_host_store(port.error());
  store_port_ = *port;
  send(protocol::Drained{order.round, store_port_});
}

// Behind the endpoint's port where node ranks are given, for that is what MASTER_PORT was always.
Result<std::uint16_t> Membership::fresh_store() {
  if (server_ && is_fixed(job_)) {
    server_->start_store_over();
    return server_->port();
  }
  if (!store_) {
    server::ServerOptions options;
    const std::string& here = connected_.local_address;
    const bool exactly = !spec_of(job_).local_addr &&
                         (!membership::is_loopback(here) || all_on_this_host(job_, here));
    options.address = exactly ? here : "";
    store_ = std::make_unique<StoreHost>(io_, std::move(options), output_);
  }
  return store_->open_round();
}

void Membership::cannot_host_store(const Error& error) {
  client_->close();
  obey(member_.on_gave_up(now(), "cannot host the store: " + error.text));
}

// Whoever hosts the server takes it along, so that the others hear why.
void Membership::send(const protocol::AgentMessage& message) {
  if (const auto* leave = std::get_if<protocol::Leave>(&message)) {
    left_ = true;
    if (server_)
      return server_->shut_down(leave->why, kLastWords, [this] {
        if (done_) std::exchange(done_, nullptr)();
      });
  }
  client_->send(message);
}

void Membership::wake_at(std::optional<membership::Time> when) {
  if (!when) return void(wake_.cancel());
  wake_.expires_at(*when);
  wake_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled) obey(member_.on_time(now()));
  });
}

void Membership::later(milliseconds delay, std::function<void()> next) {
  pause_.expires_after(delay);
  pause_.async_wait([next = std::move(next)](boost::system::error_code canceled) {
    if (!canceled) next();
  });
}

// ---- the end ----

void Membership::finish(std::function<void()> done) {
  wake_.cancel();
  look_up_.reset();
  done_ = std::move(done);
  if (finish_now()) return;
  later(server_ ? kLastWords : kGoodbye, [this] {
    if (done_) std::exchange(done_, nullptr)();
  });
}

// Nobody needs this process any more. False before finish() was called, or while somebody does.
bool Membership::finish_now() {
  if (!done_) return false;
  const bool says_goodbye = !server_ && left_ && is_connected_;
  if (says_goodbye) return false;
  if (server_ && client_) client_->close();
  if (server_ && !server_->idle()) return false;
  pause_.cancel();
  boost::asio::post(io_, std::exchange(done_, nullptr));
  return true;
}

}  // namespace ddprun::agent
