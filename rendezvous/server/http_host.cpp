#include "rendezvous/server/http_host.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "rendezvous/guard/token.h"
#include "rendezvous/server/holders.h"
#include "rendezvous/server/http_session.h"

namespace ddprun::server {

HttpHost::HttpHost(boost::asio::io_context& io, HttpHostOptions options, LimitedLog& log)
    : io_(io),
      options_(std::move(options)),
      log_(log),
      deadlines_(io, options_.timeout, [this](Id id) { on_timeout(id); }) {}

HttpHost::~HttpHost() {
  close();
}

void HttpHost::take(Visitor visitor) {
  const Id id = ++last_id_;
  HttpSession& session =
      *sessions_.emplace(id, std::make_unique<HttpSession>(*this, id, std::move(visitor)))
           .first->second;
  deadlines_.add(id);
  session.start();
}

void HttpHost::close() {
  deadlines_.close();
  while (!sessions_.empty()) forget(sessions_.begin()->first);
}

std::optional<http::Response> HttpHost::refuse_stranger(const std::string& peer,
                                                        const http::Request& request) {
  if (!options_.token) return {};
  auto refusal = http::check_access(
      request, [this](std::string_view text) { return options_.token->is(text); });
  // A browser asks without the token first.
  if (!refusal || request.authorization.empty()) return refusal;
  ++strangers_;
  log_.write(Severity::warning, "token",
             "refused a page to " + peer + ": " +
                 (request.unseen ? "it gave a token that is not this server's"
                                 : "it sent a token that others could read on its way; replace the "
                                   "token if it was this server's"));
  return refusal;
}

// False: it is `address` that has most.
bool HttpHost::make_room(const std::string& address) {
  while (true) {
    const bool many = sessions_.size() > options_.max_connections;
    if (!many && *memory_ <= options_.max_memory_bytes) return true;
    Holders holders;
    for (const auto& [id, session] : sessions_)
      holders.add(id, session->address(), many ? 1 : session->unsent());
    const auto largest = holders.largest();
    if (!largest || largest->address == address) return false;
    log_.write(Severity::warning, "pages",
               "closed the connection of " + sessions_.at(largest->id)->peer() +
                   ": too many pages are being read, most of them from its address");
    forget(largest->id);
  }
}

http::Response HttpHost::answer(const HttpSession& asking, const guard::TlsFacts* tls,
                                const http::Request& request) {
  ++requests_;
  if (log_.wants(Severity::debug))
    log_.write(Severity::debug, "request", request.method + " " + request.target);
  if (const std::string why = refuse_way(options_.way_in, tls);
      !why.empty() && request.target != "/healthz")
    return http::refusal(403, why);
  if (auto refusal = refuse_stranger(asking.peer(), request)) return std::move(*refusal);
  // Whoever watches the server's health would end a healthy one.
  if (http::shows_runs(request) && !make_room(asking.address()))
    return http::refusal(503, "too many pages are being read; try again in a moment");
  return options_.respond(request);
}

void HttpHost::on_timeout(Id id) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return;
  const HttpSession& slow = *session->second;
  if (!slow.answered() || slow.unsent() > 0) {
    log_.write(
        Severity::warning, "slow page",
        "closed the connection of " + slow.peer() + ": it " +
            (slow.answered() ? "did not read the answer to its request" : "sent no whole request") +
            " within " + std::to_string(options_.timeout.count()) + " ms");
  }
  forget(id);
}

// The session may be the one that is calling us: it goes when it has returned.
void HttpHost::forget(Id id) {
  auto entry = sessions_.extract(id);
  entry.mapped()->close();
  boost::asio::post(io_, [gone = std::move(entry.mapped())] {});
}

}  // namespace ddprun::server
