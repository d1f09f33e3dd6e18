// Serves HTTP connections: one request each, answered by a function. Reading and writing have time
// limits, and only so many are served at once, so that pages never cost the agents their server.
// One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "rendezvous/http/respond.h"
#include "rendezvous/server/deadlines.h"
#include "rendezvous/server/limited_log.h"
#include "rendezvous/server/other_protocols.h"
#include "rendezvous/server/way_in.h"

namespace ddprun::guard {
class Token;
}

namespace ddprun::server {

class HttpSession;

struct HttpHostOptions {
  std::shared_ptr<const guard::Token>
      token;  // has to be shown with each request; none: nothing has
  WayIn way_in;
  std::function<http::Response(const http::Request&)> respond;
  // From the first bytes until the answer has been read; a connection is closed then.
  std::chrono::milliseconds timeout{30'000};
  // Over these, the address with most of them is told 503, but for requests that take a line only,
  // such as /healthz. For the others there is room: one of that address is closed.
  std::size_t max_connections = 256;
  std::uint64_t max_memory_bytes = 256 << 20;  // of answers that are not read yet
};

class HttpHost {
 public:
  // `log` must outlive it.
  HttpHost(boost::asio::io_context& io, HttpHostOptions options, LimitedLog& log);
  ~HttpHost();
  HttpHost(const HttpHost&) = delete;
  HttpHost& operator=(const HttpHost&) = delete;

  void take(Visitor visitor);
  // For requests that come from now on.
  void set_token(std::shared_ptr<const guard::Token> token) { options_.token = std::move(token); }
  std::size_t connections() const { return sessions_.size(); }
  std::uint64_t requests() const { return requests_; }
  std::uint64_t memory_bytes() const { return *memory_; }
  // Requests that did not show the token.
  std::uint64_t strangers() const { return strangers_; }
  void close();

 private:
  friend class HttpSession;
  using Id = std::uint64_t;

  http::Response answer(const HttpSession& asking, const guard::TlsFacts* tls,
                        const http::Request& request);
  std::optional<http::Response> refuse_stranger(const std::string& peer,
                                                const http::Request& request);
  bool make_room(const std::string& address);
  void on_timeout(Id id);
  void forget(Id id);

  boost::asio::io_context& io_;
  HttpHostOptions options_;
  LimitedLog& log_;
  std::shared_ptr<std::uint64_t> memory_ = std::make_shared<std::uint64_t>(0);
  std::unordered_map<Id, std::unique_ptr<HttpSession>> sessions_;
  Id last_id_ = 0;
  Deadlines<Id> deadlines_;
  std::uint64_t requests_ = 0;
  std::uint64_t strangers_ = 0;
};

}  // namespace ddprun::server
