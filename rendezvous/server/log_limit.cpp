#include "rendezvous/server/log_limit.h"

#include <algorithm>

namespace ddprun::server {

bool LogLimit::takes(Time now, Severity severity, std::string_view kind, const std::string& line) {
  Kind& of_kind = kinds_[kind];
  if (now >= of_kind.until && of_kind.left_out == 0) of_kind = {.until = now + kSpan};
  if (of_kind.taken < (severity >= Severity::warning ? kWarnings : kOthers)) {
    ++of_kind.taken;
    return true;
  }
  ++of_kind.left_out;
  of_kind.last = {severity, line};
  return false;
}

std::vector<LogLimit::Line> LogLimit::due(Time now) {
  std::vector<Line> lines;
  for (auto& [name, kind] : kinds_) {
    if (kind.left_out == 0 || now < kind.until) continue;
    const std::string count = std::to_string(kind.left_out);
    lines.push_back(
        {kind.last.severity, "… and " + count + " more like it, the last one: " + kind.last.text});
    kind = {};
  }
  return lines;
}

std::optional<LogLimit::Time> LogLimit::next() const {
  std::optional<Time> at;
  for (const auto& [name, kind] : kinds_)
    if (kind.left_out > 0) at = at ? std::min(*at, kind.until) : kind.until;
  return at;
}

}  // namespace ddprun::server
