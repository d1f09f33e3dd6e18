#include "launcher/agent/membership.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "launcher/agent/interfaces.h"
#include "launcher/agent/limits.h"
#include "launcher/agent/self_description.h"
#include "launcher/agent/tls_files.h"
#include "rendezvous/base/span_text.h"
#include "rendezvous/guard/handshake.h"
#include "rendezvous/guard/tls.h"

namespace ddprun::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDrainPoll{5};
constexpr milliseconds kStorePoll{20};
constexpr milliseconds kStoreSilence{1000};  // then it is told that the store is kept
constexpr milliseconds kLastWords{2000};     // for others to read theirs
// Of several rdzvds the next one may answer at once.
constexpr milliseconds kPatienceWithOne{2'000};
constexpr milliseconds kPatienceWithHead{10'000};  // which may have to wait for etcd
constexpr milliseconds kGoodbye{500};              // for the server to take ours

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
  return {.endpoint = cli::endpoints_text(spec_of(job)),
          .join_timeout = spec_of(job).conf.join_timeout,
          .reconnect_timeout = spec_of(job).conf.reconnect_timeout,
          .restart_backoff = job.spec.restart_backoff,
          .several_servers = !spec_of(job).more_endpoints.empty(),
          .first_node_speaks = is_fixed(job) && spec_of(job).first_node_speaks()};
}

// A loopback endpoint means that all nodes are on this host; the store then listens there only.
bool all_on_this_host(const std::string& host, const std::string& local_address) {
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
      store_key_(job.tls ? guard::random_number() : ""),
      member_(member_options(job)),
      host_(io, job, output, host_hooks()),
      wake_(io),
      pause_(io),
      drain_(io),
      store_poll_(io) {}

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

void Membership::leave(const std::string& why, std::optional<int> exit_code) {
  obey(member_.on_leaving(now(), why, exit_code));
}

// ---- the connection ----

ServerHostHooks Membership::host_hooks() {
  return {.connect = [this](const std::string& host) { connect_to(host); },
          .waits = [this](const auto& why) { obey(member_.on_unreachable(now(), why)); },
          .cannot_host = [this](const auto& why) { member_.set_cannot_host(why); },
          .gave_up = [this](const auto& why) { obey(member_.on_gave_up(now(), why)); },
          .say = [this](const std::string& line) { hooks_.say(line); },
          .store_key = store_key_};
}

// Until there was a server it may turn out that this node has to host it.
void Membership::connect(const membership::Connect& order) {
  connect_until_ = now() + order.patience;
  patience_ = order.patience;
  if (client_ && (was_member_ || hosts_server()))
    return client_->connect(order.patience, order.pause);
  if (order.pause == order.pause.zero()) return host_.find(order.patience);
  later(std::chrono::ceil<milliseconds>(order.pause),
        [this] { host_.find(connect_until_ - now()); });
}

void Membership::connect_to(const std::string& host) {
  const cli::RendezvousSpec& spec = spec_of(job_);
  // Once: files that are being replaced must not end a job that runs.
  if (job_.tls && !tls_) {
    auto made = tls_client_of(spec);
    if (!made) return obey(member_.on_gave_up(now(), made.error().text));
    tls_ = std::move(*made);
  }
  client::RosterClientOptions options{.host = host,
                                      .port = host_.port(),
                                      .token = job_.token,
                                      .tls = tls_,
                                      .answer_timeout = spec.conf.read_timeout};
  for (const cli::MeetingPoint& each : spec.more_endpoints)
    options.others.push_back({each.host, each.port});
  options.headless_patience = spec.conf.join_timeout;
  if (!options.others.empty()) {
    options.connect_timeout = options.handshake_timeout = kPatienceWithOne;
    options.answer_timeout = std::min(options.answer_timeout, kPatienceWithHead);
  }
  if (host_.undecided()) {
    options.connected_when_answered = true;
    // What leads here may take its time to find out that somebody listens.
    options.stranger_after = std::chrono::duration_cast<milliseconds>(patience_);
  }
  client_ = std::make_unique<client::RosterClient>(
      io_, std::move(options), [this](client::RosterEvent event) { on_event(std::move(event)); });
  // Looking for the host, and for whoever has its port, may have taken its time.
  client_->connect(connect_until_ - now(), {}, patience_);
}

void Membership::on_event(client::RosterEvent event) {
  if (auto* connected = std::get_if<client::RosterConnected>(&event)) {
    if (!host_.on_answer()) return;
    connected_ = std::move(*connected);
    is_connected_ = true;
    return obey(member_.on_connected(now()));
  }
  if (const auto* message = std::get_if<protocol::ServerMessage>(&event)) {
    if (const auto* clients = std::get_if<protocol::StoreClients>(message)) return admit(*clients);
    if (std::holds_alternative<protocol::Welcome>(*message)) {
      was_member_ = true;
      host_.stop_looking();
    }
    return obey(member_.on_message(now(), *message));
  }
  is_connected_ = false;
  if (const auto* unreachable = std::get_if<client::RosterUnreachable>(&event))
    return on_unreachable(*unreachable);
  if (done_) return finish_now();
  if (const auto* gave_up = std::get_if<client::RosterGaveUp>(&event))
    return obey(member_.on_gave_up(now(), gave_up->why));
  obey(member_.on_lost(now(), std::get<client::RosterLost>(event).why));
}

void Membership::on_unreachable(const client::RosterUnreachable& unreachable) {
  obey(member_.on_unreachable(now(), unreachable.why));
  if (unreachable.nobody_listens && !was_member_) host_.on_nobody_there();
}

// ---- orders ----

void Membership::obey(membership::Orders orders) {
  wake_at(orders.wake_at);
  for (const membership::Order& order : orders.list) carry_out(order);
}

void Membership::carry_out(const membership::Order& order) {
  if (const auto* to = std::get_if<membership::Connect>(&order)) return connect(*to);
  if (const auto* join = std::get_if<membership::SayJoin>(&order)) return say_join(*join);
  if (const auto* message = std::get_if<membership::Send>(&order)) return send(message->message);
  if (const auto* round = std::get_if<membership::BeginRound>(&order)) return begin_round(*round);
  if (const auto* attempt = std::get_if<membership::NoteAttempt>(&order))
    return hooks_.note_attempt(*attempt);
  if (const auto* stop = std::get_if<membership::StopRound>(&order))
    return hooks_.stop_round(stop->why);
  if (const auto* drained = std::get_if<membership::SayDrained>(&order))
    return say_drained(*drained);
  if (const auto* stacks = std::get_if<membership::TakeStacks>(&order)) return take_stacks(*stacks);
  if (std::holds_alternative<membership::BecomeSpare>(order)) return hooks_.become_spare();
  if (const auto* say = std::get_if<membership::Say>(&order)) return hooks_.say(say->text);
  hooks_.end(std::get<membership::End>(order).verdict);
}

void Membership::begin_round(membership::BeginRound order) {
  // All workers of the round before have ended, on all nodes.
  if (store_) store_->close_earlier_rounds();
  if (!store_key_.empty())
    if (const auto opened = open_proxy(order.assignment); !opened)
      return obey(member_.on_unable(now(), "no way to the store: " + opened.error().text));
  hooks_.begin_round(order);
}

// The workers of this node are sent to the proxy.
Result<void> Membership::open_proxy(protocol::Assignment& assignment) {
  if (!assignment.store_key)
    return Error{"node rank 0 hosts the store without TLS; give --tls-ca on all nodes"};
  auto tls = guard::Tls::client_with(*assignment.store_key);
  if (!tls) return tls.error();
  auto proxy = StoreProxy::listen(io_, {.host = assignment.store_host,
                                        .port = assignment.store_port,
                                        .tls = std::move(*tls),
                                        .say = hooks_.say});
  if (!proxy) return proxy.error();
  proxy_ = std::move(*proxy);
  assignment.store_host = "127.0.0.1";
  assignment.store_port = proxy_->port();
  return {};
}

// As it was given, unless another one of several has answered.
const std::string& Membership::server_host() const {
  return connected_.host.empty() ? host_.host() : connected_.host;
}

void Membership::say_join(const membership::SayJoin& order) {
  if (store_port_ == 0 || order.fresh_store) {
    const auto port = fresh_store();
    if (!port) return cannot_host_store(port.error());
    store_port_ = *port;
  }
  const bool everywhere = membership::is_loopback(connected_.local_address) &&
                          !all_on_this_host(server_host(), connected_.local_address);
  protocol::Join join = join_of(job_, connected_.local_address,
                                everywhere ? addresses_for_others(interfaces(), default_address())
                                           : std::vector<std::string>{});
  join.store_port = store_port_;
  if (!store_key_.empty()) join.store_key = store_key_;
  join.hosts_server = hosts_server();
  join.held = order.held;
  join.former = order.former;
  send(join);
}

// Behind the endpoint's port there is one store only, and the workers of other nodes may need it
// until they have ended: it is emptied when they have, so this node drains last.
void Membership::say_drained(const membership::SayDrained& order) {
  if (hosts_fixed_store() && others_are_stopping()) {
    drain_.expires_after(kDrainPoll);
    return drain_.async_wait([this, order](boost::system::error_code canceled) {
      if (!canceled && !done_) say_drained(order);
    });
  }
  const auto port = fresh_store();
  if (!port) return cannot_host_store(port.error());
  store_port_ = *port;
  send(protocol::Drained{order.round, store_port_});
}

void Membership::take_stacks(const membership::TakeStacks& order) {
  hooks_.take_stacks(order.id, [this, id = order.id](Result<std::string> files) {
    protocol::StacksDone done{.id = id, .path = {}, .failed = {}};
    if (files)
      done.path = *files;
    else
      done.failed = files.error().text;
    obey(member_.on_stacks(now(), std::move(done)));
  });
}

bool Membership::others_are_stopping() const {
  using State = roster::NodeSnapshot::State;
  std::ptrdiff_t stopping = 0;
  for (const roster::Snapshot& run : host_.server()->snapshots())
    stopping += std::ranges::count(run.nodes, State::stopping, &roster::NodeSnapshot::state);
  return stopping > 1;
}

// Behind the endpoint's port where node ranks are given, for that is what MASTER_PORT was always.
bool Membership::hosts_fixed_store() const {
  return hosts_server() && is_fixed(job_);
}

Result<std::uint16_t> Membership::fresh_store() {
  if (hosts_fixed_store()) {
    host_.server()->start_store_over();
    return host_.server()->port();
  }
  if (!store_) {
    server::ServerOptions options;
    const std::string& here = connected_.local_address;
    const bool exactly = !spec_of(job_).local_addr &&
                         (!membership::is_loopback(here) || all_on_this_host(server_host(), here));
    options.address = exactly ? here : "";
    options.guarded = job_.token != nullptr && store_key_.empty();
    if (!store_key_.empty()) {
      auto tls = guard::Tls::server({}, store_key_);
      if (!tls) return tls.error();
      options.tls = std::move(*tls);
    }
    limit_connections(options);
    store_ = std::make_unique<StoreHost>(io_, std::move(options), output_);
  }
  return store_->open_next_round();
}

void Membership::admit(const protocol::StoreClients& clients) {
  if (hosts_fixed_store()) return host_.server()->admit_store_clients(clients.addresses);
  if (store_) store_->admit(clients.addresses);
}

void Membership::cannot_host_store(const Error& error) {
  obey(member_.on_unable(now(), "cannot host the store: " + error.text));
}

// Whoever hosts the server takes it along, so that the others hear why; but not while it is the
// workers' store as well, nor where the roster has to tell them how the job ends.
void Membership::send(const protocol::AgentMessage& message) {
  if (const auto* leave = std::get_if<protocol::Leave>(&message)) {
    left_ = leave->why;
    if (hosts_server() && !is_fixed(job_) && !leave->exit_code) return end_server(leave->why);
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

void Membership::finish(std::chrono::nanoseconds store_patience, std::function<void()> done) {
  wake_.cancel();
  drain_.cancel();
  host_.stop_looking();
  done_ = std::move(done);
  finishing_since_ = now();
  store_until_ = finishing_since_ + store_patience;
  if (client_ && !left_) client_->close();
  finish_now();
}

void Membership::hurry() {
  store_until_ = now();
}

// The workers of other nodes that are still told to stop. This node's have ended.
bool Membership::store_is_used() const {
  if (hosts_fixed_store()) return host_.server()->statistics().port.connections > 0;
  return store_ && store_->clients() > 0;
}

// Goes on ending; called whenever something has changed, and does nothing before finish().
void Membership::finish_now() {
  if (!done_) return;
  if (is_unheard()) return later(kGoodbye, [this] { finish_now(); });
  if (store_is_used() && now() < store_until_) return wait_for_store();
  if (hosts_server()) return end_server(left_.value_or("the job has ended"));
  end();
}

// The server closes the connection when it has taken our goodbye and told the others, which a
// server of our own has to do before it ends.
bool Membership::is_unheard() const {
  return left_ && is_connected_ && !server_told_ && now() < finishing_since_ + kGoodbye;
}

void Membership::wait_for_store() {
  if (now() >= finishing_since_ + kStoreSilence && !std::exchange(told_store_, true))
    hooks_.say("the store is kept for the workers of other nodes, which are still stopping, for " +
               span_text(store_until_ - now()) + " at most; another stop signal ends it at once");
  store_poll_.expires_after(kStorePoll);
  store_poll_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled) finish_now();
  });
}

void Membership::end_server(const std::string& why) {
  if (std::exchange(server_told_, true)) {
    if (server_ended_) end();
    return;
  }
  if (client_) client_->close();
  host_.server()->shut_down(why, kLastWords, [this] {
    server_ended_ = true;
    finish_now();
  });
}

void Membership::end() {
  if (!done_) return;
  proxy_.reset();
  pause_.cancel();
  boost::asio::post(io_, std::exchange(done_, nullptr));
}

}  // namespace ddprun::agent
