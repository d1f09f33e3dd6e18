#include "launcher/report/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launcher/report/output_file.h"

namespace ddprun::report {

EventLog::EventLog(std::function<void(const std::string&)> write, const WallClock& clock)
    : write_(std::move(write)), clock_(clock) {}

Result<EventLog> EventLog::open(const std::string& path, const WallClock& clock) {
  struct stat info {};
  const bool pipe = ::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
  // Whoever may also read a pipe can open it without a reader, and gets no SIGPIPE when one goes.
  const int access = pipe ? O_RDWR : O_WRONLY | O_CREAT | O_APPEND;
  UniqueFd file(::open(path.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
  if (!file) return Error{cannot_write("--events", path, errno)};
  EventLog log;
  log.file_ = std::move(file);
  log.clock_ = clock;
  return log;
}

void EventLog::add(supervise::Time when, std::string_view event,
                   const boost::json::object& fields) {
  if (!*this) return;
  const std::string line = event_line(clock_, when, event, fields);
  if (write_) return write_(line);
  if (!flush()) {
    ++dropped_;
    return;
  }
  pending_ = line;
  // Nothing of it was taken: the next one may find room, and this one is lost.
  if (!flush() && pending_.size() == line.size()) {
    pending_.clear();
    ++dropped_;
  }
}

bool EventLog::flush() {
  while (!pending_.empty()) {
    const ssize_t written = ::write(file_.get(), pending_.data(), pending_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    pending_.erase(0, static_cast<std::size_t>(written));
  }
  return true;
}

std::string event_line(const WallClock& clock, supervise::Time when, std::string_view event,
                       const boost::json::object& fields) {
  boost::json::object object{{"time", iso_time(clock, when)}, {"event", event}};
  for (const auto& field : fields) object.insert(field);
  return boost::json::serialize(object) + "\n";
}

}  // namespace ddprun::report
