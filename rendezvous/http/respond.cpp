#include "rendezvous/http/respond.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <optional>

#include "rendezvous/http/metrics.h"
#include "rendezvous/http/page.h"

namespace ddprun::http {
namespace {

constexpr std::string_view kRuns = "/api/v1/runs";
constexpr const char* kJson = "application/json";
constexpr const char* kText = "text/plain; charset=utf-8";

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 307:
      return "Temporary Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

// Nothing if a "%" is not followed by two hexadecimal digits.
std::optional<std::string> decode_percent(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), byte, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.end()) return {};
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

Response json_response(const boost::json::value& value) {
  return {.content_type = kJson, .body = boost::json::serialize(value) + "\n"};
}

Response all_runs(const View& view) {
  boost::json::array runs;
  for (const roster::Snapshot& run : view.runs) runs.push_back(to_json(run, view.with_lines));
  return json_response(runs);
}

Response one_run(const View& view, const std::string& id) {
  const auto run = std::ranges::find(view.runs, id, &roster::Snapshot::run);
  if (run == view.runs.end())
    return refusal(404, "there is no such run here; all are at " + std::string(kRuns));
  return json_response(to_json(*run, view.with_lines));
}

// Without what is behind a "?".
std::string_view path_of(const Request& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

bool is_read(const Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

Response get(std::string_view path, const std::function<View(const Wanted&)>& view) {
  if (path == "/")
    return {.content_type = "text/html; charset=utf-8",
            .body = status_page(view({.most_runs = kRunsShown}))};
  if (path == "/healthz") return {.content_type = kText, .body = "ok\n"};
  if (path == "/metrics")
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics(view({.workers = false}))};
  if (path == kRuns) return all_runs(view({}));
  if (path.starts_with(std::string(kRuns) + "/")) {
    const auto id = decode_percent(path.substr(kRuns.size() + 1));
    if (!id) return refusal(400, "the run id in the path has a % without two hexadecimal digits");
    return one_run(view({.run = *id}), *id);
  }
  return refusal(404, "there is nothing here; try /, /api/v1/runs, /metrics or /healthz");
}

}  // namespace

Response respond(const Request& request, const std::function<View(const Wanted&)>& view) {
  if (!is_read(request))
    return refusal(405, "only GET and HEAD are answered: everything here is read only");
  if (!request.target.starts_with('/'))
    return refusal(400, "the target of the request does not begin with /");
  return get(path_of(request), view);
}

std::optional<Response> respond_elsewhere(const Request& request,
                                          const std::optional<std::string>& endpoint,
                                          const std::string& why, std::string_view scheme) {
  const std::string_view path = path_of(request);
  if (!is_read(request) || !path.starts_with('/') || path == "/healthz" || path == "/metrics")
    return {};
  if (!endpoint) return refusal(503, "there is no head now; come again: " + why);
  Response response = refusal(307, "the head is rdzvd at " + *endpoint);
  response.location = std::string(scheme) + "://" + *endpoint + request.target;
  return response;
}

bool shows_runs(const Request& request) {
  const std::string_view path = path_of(request);
  return is_read(request) && (path == "/" || path == "/metrics" || path.starts_with(kRuns));
}

Response refusal(int status, std::string_view text) {
  return {.status = status, .content_type = kText, .body = std::string(text) + "\n"};
}

std::string to_bytes(const Response& response, bool head_only) {
  std::string bytes = "HTTP/1.1 " + std::to_string(response.status) + " ";
  bytes.append(reason(response.status));
  bytes += "\r\nContent-Type: " + response.content_type;
  bytes += "\r\nContent-Length: " + std::to_string(response.body.size());
  if (!response.location.empty()) bytes += "\r\nLocation: " + response.location;
  if (response.status == 405) bytes += "\r\nAllow: GET, HEAD";
  if (response.status == 401)
    bytes +=
        "\r\nWWW-Authenticate: Basic realm=\"ddprun: any name, and the token as the password\""
        "\r\nWWW-Authenticate: Bearer";
  bytes +=
      "\r\nCache-Control: no-store"
      "\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; "
      "frame-ancestors 'none'"
      "\r\nX-Content-Type-Options: nosniff"
      "\r\nReferrer-Policy: no-referrer"
      "\r\nConnection: close\r\n\r\n";
  if (!head_only) bytes += response.body;
  return bytes;
}

}  // namespace ddprun::http
