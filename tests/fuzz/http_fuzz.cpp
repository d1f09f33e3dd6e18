// Any bytes as the request of a browser, over a real socket into the session that serves it: where
// they are cut does not change the answer (but what is no HTTP may be found out sooner or later),
// which is HTTP, says its length and holds nothing of the
// request that a browser would run. The first byte of the input is the size of the pieces.
#include <fcntl.h>
#include <sys/socket.h>

#include <boost/json/parse.hpp>
#include <charconv>
#include <cstdint>

#include "rendezvous/server/http_host.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

constexpr std::size_t kMaxAnswer = 64 << 10;

http::View hostile_view(const http::Wanted&) {
  http::View view{.host = "h<script>", .version = "1"};
  roster::Snapshot run{.run = "a<b>\"'&"};
  run.nodes.push_back({.node = "</table><script>x</script>"});
  view.runs.push_back(run);
  view.runs_in_all = 1;
  return view;
}

// One connection to a host of its own.
class Session {
 public:
  Session()
      : log_(io_, {}, server::Severity::error),
        host_(io_, {.respond = [](const auto& r) { return http::respond(r, hostile_view); }},
              log_) {
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    browser_.reset(ends[0]);
    server_.reset(ends[1]);
  }

  void feed(std::string_view bytes) {
    if (server_)
      host_.take({.socket = std::move(server_), .peer = {}, .first = std::string(bytes)});
    else
      // Refused once the session has read enough of it.
      (void)::send(browser_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    io_.poll();
    require(host_.memory_bytes() < kMaxAnswer);
  }

  // Empty where it waits for more.
  std::string answer() {
    ::shutdown(browser_.get(), SHUT_WR);
    io_.poll();
    std::string all(kMaxAnswer, '\0');
    const ssize_t size = ::recv(browser_.get(), all.data(), all.size(), 0);
    all.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    browser_.reset();
    io_.poll();
    host_.close();
    io_.poll();
    return all;
  }

 private:
  boost::asio::io_context io_{1};
  server::LimitedLog log_;
  server::HttpHost host_;
  UniqueFd browser_, server_;
};

std::string_view header(std::string_view head, std::string_view name) {
  const auto at = head.find("\r\n" + std::string(name) + ": ");
  require(at != std::string_view::npos);
  const std::string_view rest = head.substr(at + name.size() + 4);
  return rest.substr(0, rest.find("\r\n"));
}

void check(std::string_view answer, bool head_only) {
  require(answer.starts_with("HTTP/1.1 "));
  const auto end = answer.find("\r\n\r\n");
  require(end != std::string_view::npos);
  const std::string_view head = answer.substr(0, end), body = answer.substr(end + 4);
  for (const char c : head) require(c == '\r' || c == '\n' || (c >= ' ' && c <= '~'));
  const std::string_view length = header(head, "Content-Length");
  std::size_t size = 0;
  std::from_chars(length.data(), length.data() + length.size(), size);
  require(head_only && body.empty() ? size > 0 : size == body.size());
  if (header(head, "Content-Type").starts_with("text/html"))
    require(body.find("<script") == std::string_view::npos);
  if (header(head, "Content-Type") == "application/json" && !body.empty()) {
    boost::system::error_code error;
    boost::json::parse(body, error);
    require(!error);
  }
}

// Refused, or still waited for.
bool is_no_http(std::string_view answer) {
  return answer.empty() || answer.starts_with("HTTP/1.1 400 ") ||
         answer.starts_with("HTTP/1.1 431 ");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The kernel's buffer for a socket pair takes as much at once.
  if (size == 0 || size > 64'000) return 0;
  const std::string_view bytes = fuzz::view_of(data + 1, size - 1);
  Session whole;
  whole.feed(bytes);
  const std::string answer = whole.answer();
  // One system call for each piece: so many, and no more.
  const std::size_t step = std::max<std::size_t>(1 + data[0] % 32, bytes.size() / 64);
  Session cut;
  fuzz::in_pieces(bytes, step, [&](std::string_view piece) { cut.feed(piece); });
  const std::string other = bytes.empty() ? answer : cut.answer();
  require(other == answer || (is_no_http(other) && is_no_http(answer)));
  if (!answer.empty()) check(answer, bytes.starts_with("HEAD "));
  return 0;
}
