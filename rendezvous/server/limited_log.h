// The log of a server: LogLimit with a clock and a timer. On the io_context's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rendezvous/server/severity.h"

namespace ddprun::server {

class LimitedLog {
 public:
  using Sink = std::function<void(Severity, std::string)>;

  // `sink` gets one line at a time, without newline and printable; it may be empty. Lines below
  // `least` are not written.
  LimitedLog(boost::asio::io_context& io, Sink sink, Severity least);
  ~LimitedLog() { close(); }
  LimitedLog(const LimitedLog&) = delete;
  LimitedLog& operator=(const LimitedLog&) = delete;

  // Whether a line of this severity can be written at all: else it need not be made.
  bool wants(Severity severity) const;
  // `kind` is a literal: lines of one kind are limited together.
  void write(Severity severity, std::string_view kind, const std::string& line);
  // Says now how many lines were left out.
  void tell_rest();
  // Nothing is written any more, and the loop is not kept alive.
  void close();

 private:
  struct State;
  static void watch(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;  // also held by the timer's callback
};

}  // namespace ddprun::server
