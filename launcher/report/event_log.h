// What happens in a job, as it happens: --events FILE, one JSON object a line. docs/events.md lists
// them.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "launcher/report/wall_clock.h"
#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::report {

// Lines that reach a descriptor whole or not at all, and never wait for its reader.
class EventLog {
 public:
  // Says nothing: --events was not given.
  EventLog() = default;
  // Each line goes to `write`, with its newline: for stdout, which others write to as well.
  EventLog(std::function<void(const std::string&)> write, const WallClock& clock);
  // Appends to a file, which is made if it is missing. A named pipe needs no reader: what the
  // kernel keeps for one (64 KiB) waits, what does not fit is dropped and counted. An error names
  // the path.
  static Result<EventLog> open(const std::string& path, const WallClock& clock);

  explicit operator bool() const { return file_ || write_; }

  // {"time": …, "event": `event`, `fields`…}
  void add(supervise::Time when, std::string_view event, const boost::json::object& fields);

  // Events that nobody will see.
  std::size_t dropped() const { return dropped_ + (pending_.empty() ? 0 : 1); }

 private:
  bool flush();

  std::function<void(const std::string&)> write_;
  UniqueFd file_;
  std::string pending_;  // the rest of a line of which the reader took only a part
  WallClock clock_;
  std::size_t dropped_ = 0;
};

// One line, with its newline.
std::string event_line(const WallClock& clock, supervise::Time when, std::string_view event,
                       const boost::json::object& fields);

}  // namespace ddprun::report
