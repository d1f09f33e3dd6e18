#include "rendezvous/rdzvd/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>

#include <cstdlib>

namespace ddprun::rdzvd {
namespace {

using server::Severity;

bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  return stream != nullptr && ::fstat(2, &status) == 0 &&
         stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

spdlog::level::level_enum level_of(Severity severity) {
  switch (severity) {
    case Severity::debug:
      return spdlog::level::debug;
    case Severity::info:
      return spdlog::level::info;
    case Severity::warning:
      return spdlog::level::warn;
    case Severity::error:
      break;
  }
  return spdlog::level::err;
}

// As syslog(3) counts.
const char* priority(Severity severity) {
  switch (severity) {
    case Severity::debug:
      return "<7>";
    case Severity::info:
      return "<6>";
    case Severity::warning:
      return "<4>";
    case Severity::error:
      break;
  }
  return "<3>";
}

}  // namespace

struct Log::Spdlog {
  spdlog::logger logger{"rdzvd", std::make_shared<spdlog::sinks::stderr_sink_st>()};
};

Log::Log(const std::string& level)
    : spdlog_(std::make_unique<Spdlog>()), journal_(stderr_is_journal()) {
  spdlog_->logger.set_level(spdlog::level::from_str(level));
  spdlog_->logger.set_pattern(journal_ ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
}

Log::~Log() = default;

Severity Log::least() const {
  for (const Severity each : {Severity::debug, Severity::info, Severity::warning})
    if (spdlog_->logger.should_log(level_of(each))) return each;
  return Severity::error;
}

void Log::write(Severity severity, const std::string& line) {
  spdlog_->logger.log(level_of(severity), "{}{}", journal_ ? priority(severity) : "", line);
}

}  // namespace ddprun::rdzvd
