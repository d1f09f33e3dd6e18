#include "rendezvous/server/limited_log.h"

#include <boost/asio/steady_timer.hpp>
#include <utility>
#include <vector>

#include "rendezvous/base/printable.h"
#include "rendezvous/server/log_limit.h"

namespace ddprun::server {

struct LimitedLog::State {
  State(boost::asio::io_context& io, Sink to, Severity from)
      : sink(std::move(to)), least(from), timer(io) {}

  // Names come from outside, and a log is read on terminals.
  void put(Severity severity, const std::string& line) const { sink(severity, printable(line)); }
  void put_all(const std::vector<LogLimit::Line>& lines) const {
    for (const LogLimit::Line& line : lines) put(line.severity, line.text);
  }

  Sink sink;
  Severity least;
  LogLimit limit;
  boost::asio::steady_timer timer;
  bool armed = false;
};

LimitedLog::LimitedLog(boost::asio::io_context& io, Sink sink, Severity least)
    : state_(std::make_shared<State>(io, std::move(sink), least)) {}

bool LimitedLog::wants(Severity severity) const {
  return state_->sink && severity >= state_->least;
}

void LimitedLog::write(Severity severity, std::string_view kind, const std::string& line) {
  if (!wants(severity)) return;
  const auto now = std::chrono::steady_clock::now();
  state_->put_all(state_->limit.due(now));
  if (state_->limit.takes(now, severity, kind, line)) return state_->put(severity, line);
  if (!std::exchange(state_->armed, true)) watch(state_);
}

void LimitedLog::watch(const std::shared_ptr<State>& state) {
  const auto next = state->limit.next();
  state->armed = next.has_value();
  if (!next) return;
  state->timer.expires_at(*next);
  state->timer.async_wait([state](const boost::system::error_code& error) {
    if (error || !state->sink) return;
    state->put_all(state->limit.due(std::chrono::steady_clock::now()));
    watch(state);
  });
}

void LimitedLog::tell_rest() {
  if (state_->sink) state_->put_all(state_->limit.rest());
}

void LimitedLog::close() {
  state_->sink = nullptr;
  state_->timer.cancel();
}

}  // namespace ddprun::server
