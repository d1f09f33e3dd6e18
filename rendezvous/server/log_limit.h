// How many lines of one kind a log takes, so that nobody from outside can fill it. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/server/severity.h"

namespace ddprun::server {

// The first lines of a kind are taken, up to a number that is larger for what is no warning; when
// ten seconds have passed since the first of them one more line says how many were left out.
class LogLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Line {
    Severity severity;
    std::string text;
  };

  static constexpr std::chrono::seconds kSpan{10};
  static constexpr std::size_t kWarnings = 20;
  static constexpr std::size_t kOthers = 200;

  // Whether `line` is to be written. `kind` must outlive this: a literal.
  bool takes(Time now, Severity severity, std::string_view kind, const std::string& line);
  // What is to be written about lines that were left out, of the kinds whose span has passed:
  // "… and 312 more like it, the last one: closed the connection of …".
  std::vector<Line> due(Time now);
  // The same of all kinds, at the end.
  std::vector<Line> rest() { return due(Time::max()); }
  // When due() will have something; none: nothing is left out.
  std::optional<Time> next() const;

 private:
  struct Kind {
    Time until{};
    std::size_t taken = 0;
    std::size_t left_out = 0;
    Line last{};
  };
  std::map<std::string_view, Kind> kinds_;
};

}  // namespace ddprun::server
