// rdzvd's log: lines to stderr, for people or for systemd's journal.
#pragma once

#include <memory>
#include <string>

#include "rendezvous/server/severity.h"

namespace ddprun::rdzvd {

class Log {
 public:
  // `level` as --log-level. Where stderr is the journal ($JOURNAL_STREAM says so), a line carries
  // its priority and no time, as journald wants it.
  explicit Log(const std::string& level);
  ~Log();

  // What is below it need not be written.
  server::Severity least() const;
  void write(server::Severity severity, const std::string& line);
  void info(const std::string& line) { write(server::Severity::info, line); }
  void warning(const std::string& line) { write(server::Severity::warning, line); }

 private:
  struct Spdlog;
  std::unique_ptr<Spdlog> spdlog_;  // its headers are not for everybody
  bool journal_ = false;
};

}  // namespace ddprun::rdzvd
