// The answers to HTTP requests, as values. Pure: what there is to show is an argument.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "rendezvous/http/view.h"

namespace ddprun::http {

struct Request {
  std::string method;
  std::string target;              // as on the request line: "/api/v1/runs/my%20run?pretty"
  std::string authorization = {};  // the header of that name
  bool unseen = false;  // nobody between the two can read it: TLS, or both are on one host
};

struct Response {
  int status = 200;
  std::string content_type;
  std::string body;
  std::string location = {};  // with status 307
};

//   GET /                   the status page
//   GET /api/v1/runs[/ID]   the same as JSON: an array, or one object
//   GET /metrics            for Prometheus
//   GET /healthz            "ok"
//
// HEAD is answered as GET; any other method gets 405. `view` is asked only for what shows
// it, and for no more than that.
Response respond(const Request& request, const std::function<View(const Wanted&)>& view);

// What a server that stands by answers: where the one that serves is, as HOST:PORT, or, when that
// is not known, `why`. Nothing for what it answers itself: /healthz and /metrics.
std::optional<Response> respond_elsewhere(const Request& request,
                                          const std::optional<std::string>& endpoint,
                                          const std::string& why, std::string_view scheme);

// Why a request is not answered by a server with a token, where `is_token` says whether a text is
// it; nothing if it may be answered. /healthz always is. The token is the password of HTTP's Basic,
// with any name, or a Bearer's; it is not asked for, nor taken, where others could read it on its
// way.
std::optional<Response> check_access(const Request& request,
                                     const std::function<bool(std::string_view)>& is_token);

// Whether respond() would ask for the view: the answer may be long then.
bool shows_runs(const Request& request);

// For a request that is no HTTP, or too large, or refused otherwise: `text` says what is wrong.
Response refusal(int status, std::string_view text);

// The whole answer as it is sent, after which the connection ends. `head_only`: without the body,
// as HEAD wants it.
std::string to_bytes(const Response& response, bool head_only);

}  // namespace ddprun::http
