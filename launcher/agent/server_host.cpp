#include "launcher/agent/server_host.h"

#include <algorithm>
#include <utility>

#include "launcher/agent/interfaces.h"
#include "launcher/agent/limits.h"
#include "launcher/agent/tls_files.h"
#include "launcher/cli/version.h"
#include "rendezvous/base/span_text.h"

namespace ddprun::agent {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPause{500};         // between look-ups, and between tries to listen
constexpr milliseconds kWatch{50};          // for others who come to a host that is undecided
constexpr milliseconds kSlowLookUp{1'000};  // then it is told
constexpr int kServerLines = 20;
constexpr const char* kPortAdvice =
    "if it is not the server that is meant, stop it, or give the nodes "
    "another port";

membership::HostingQuestion question_of(const cli::RendezvousSpec& spec) {
  return {.fixed = spec.kind == cli::RendezvousSpec::Kind::fixed,
          .node_rank = spec.node_rank ? spec.node_rank->value : 0,
          .is_host = spec.conf.is_host,
          .host = spec.endpoint.value.host};
}

// Its name may be one that only Slurm knows.
bool is_node_of_slurm(const cli::RendezvousSpec& spec) {
  return spec.engine == cluster::Engine::slurm &&
         std::ranges::find(spec.hosts, spec.endpoint.value.host) != spec.hosts.end();
}

}  // namespace

ServerHost::ServerHost(boost::asio::io_context& io, const Job& job, output::Output& output,
                       ServerHostHooks hooks)
    : io_(io),
      job_(job),
      output_(output),
      hooks_(std::move(hooks)),
      question_(question_of(job.spec.rendezvous)),
      port_(job.spec.rendezvous.endpoint.value.port),
      timer_(io) {}

void ServerHost::find(std::chrono::nanoseconds patience) {
  patience_ = patience;
  deadline_ = Clock::now() + patience;
  if (!slurm_host_ && is_node_of_slurm(job_.spec.rendezvous)) return ask_slurm();
  find_host();
}

void ServerHost::ask_slurm() {
  slurm_host_.emplace(
      io_, job_.environment, question_.host, deadline_,
      [this](const std::string& why) { hooks_.waits(why); },
      [this](const Result<SlurmHost::Found>& found) {
        if (!found) return hooks_.gave_up(found.error().text);
        question_.host = found->host;
        if (!found->notice.empty() && !job_.spec.rendezvous.first_node_speaks())
          hooks_.say(found->notice);
        find_host();
      });
}

void ServerHost::find_host() {
  // Where several rdzvds are one no node hosts anything.
  if (!job_.spec.rendezvous.more_endpoints.empty() || membership::never_hosts(question_))
    return hooks_.connect(question_.host);
  look_up();
}

void ServerHost::stop_looking() {
  forget_timer();
  slurm_host_.reset();
  look_up_.reset();
  hosting_ = {};
  undecided_ = false;
}

void ServerHost::look_up() {
  look_up_.emplace(io_, question_.host, [this](Result<client::Addresses> found) {
    forget_timer();
    on_found(std::move(found));
  });
  later(std::min<std::chrono::nanoseconds>(kSlowLookUp, deadline_ - Clock::now()),
        &ServerHost::on_slow_look_up);
}

// The resolver may take longer than anybody wants to wait.
void ServerHost::on_slow_look_up() {
  const std::string why = "looking up '" + question_.host + "' has no answer yet";
  if (const auto left = deadline_ - Clock::now(); left > left.zero()) {
    later(left, &ServerHost::on_slow_look_up);
    return hooks_.waits(why);
  }
  look_up_.reset();
  hooks_.gave_up(cli::text_of(job_.spec.rendezvous.endpoint.value) +
                 " could not be reached within " + span_text(patience_) + ": " + why);
}

void ServerHost::on_found(Result<client::Addresses> found) {
  if (!found) {
    const std::string why = "'" + question_.host + "' cannot be looked up: " + found.error().text;
    if (Clock::now() >= deadline_)
      return hooks_.gave_up(cli::text_of(job_.spec.rendezvous.endpoint.value) +
                            " could not be reached within " + span_text(patience_) + ": " + why);
    later(std::min<std::chrono::nanoseconds>(kPause, deadline_ - Clock::now()),
          &ServerHost::look_up);
    return hooks_.waits(why);
  }
  question_.addresses.clear();
  for (const auto& address : *found) question_.addresses.push_back(address.to_string());
  question_.local_addresses = addresses_of(interfaces());
  hosting_ = membership::decide_hosting(question_);
  if (!hosting_.listen) return hooks_.connect(question_.host);
  const Result<void> listening = listen();
  if (listening) return on_listening();
  if (!hosting_.may_be_taken)
    return hooks_.gave_up("cannot host the rendezvous: " + listening.error().text);
  hooks_.cannot_host(listening.error().text);
  later(kPause, &ServerHost::try_again);
  hooks_.connect(question_.host);
}

void ServerHost::on_listening() {
  undecided_ = hosting_.undecided;
  if (undecided_) later(kWatch, &ServerHost::watch_for_others);
  hooks_.connect(undecided_ ? question_.host : hosting_.connect_to);
}

void ServerHost::watch_for_others() {
  if (server_->statistics().roster_connections > 0) return host_it();
  later(kWatch, &ServerHost::watch_for_others);
}

void ServerHost::host_it() {
  forget_timer();
  undecided_ = false;
  hooks_.connect(hosting_.connect_to);
}

bool ServerHost::on_answer() {
  if (!undecided_) return true;
  // This node's own connection is one, if it has come here.
  if (server_->statistics().roster_connections > 0) {
    host_it();
    return false;
  }
  stop_looking();
  server_.reset();
  return true;
}

Result<void> ServerHost::listen() {
  server::RosterServerOptions options;
  options.address = hosting_.address;
  options.port = port_;
  options.port_advice = kPortAdvice;
  options.identity = {
      .id = "", .host = job_.host, .version = std::string(cli::version()), .embedded = true};
  // With given node ranks the workers' store is behind the same port, as with torchrun.
  options.store = question_.fixed;
  options.token = job_.token;
  if (job_.tls) {
    auto tls = tls_server_of(job_.spec.rendezvous, hooks_.store_key);
    if (!tls) return tls.error();
    options.tls = std::move(*tls);
  }
  limit_connections(options);
  options.log = [this, left = kServerLines](server::Severity severity,
                                            const std::string& line) mutable {
    const bool wanted =
        severity >= server::Severity::warning || job_.spec.verbosity == cli::Verbosity::verbose;
    if (wanted && left-- > 0) output_.note("ddprun: rendezvous: " + line);
  };
  auto server = server::RosterServer::listen(io_, std::move(options));
  if (!server) return server.error();
  server_ = std::move(*server);
  port_ = server_->port();
  if (job_.upstream) job_.upstream->listening(port_);
  if (!hosting_.notice.empty()) hooks_.say(hosting_.notice);
  return {};
}

// Whoever had the port may have been about to end.
void ServerHost::try_again() {
  if (!try_to_take_the_port()) later(kPause, &ServerHost::try_again);
}

bool ServerHost::try_to_take_the_port() {
  if (const Result<void> listening = listen(); !listening) {
    hooks_.cannot_host(listening.error().text);
    return false;
  }
  forget_timer();
  hooks_.cannot_host("");
  on_listening();
  return true;
}

void ServerHost::on_nobody_there() {
  if (!hosting_.listen || server_ || try_to_take_the_port()) return;
  // Nobody there says nothing about who has the port here.
  if (!hosting_.expected || hosting_.undecided) return;
  forget_timer();
  hooks_.gave_up("nobody listens at " + cli::text_of(job_.spec.rendezvous.endpoint.value));
}

void ServerHost::later(std::chrono::nanoseconds pause, void (ServerHost::*next)()) {
  timer_.expires_after(pause);
  timer_.async_wait([this, next, wait = ++wait_](boost::system::error_code canceled) {
    if (!canceled && wait == wait_) (this->*next)();
  });
}

// A wait that is over already cannot be canceled any more, though its handler is yet to run.
void ServerHost::forget_timer() {
  ++wait_;
  timer_.cancel();
}

}  // namespace ddprun::agent
