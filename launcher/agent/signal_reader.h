// Signals as events of the io_context, read from a signalfd: no handler ever runs.
#pragma once

#include <sys/signalfd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <vector>

namespace ddprun::agent {

class SignalReader {
 public:
  // Blocks `signals` for this thread. `on_signal` gets each one, in order of arrival as far as
  // the kernel keeps it; signals of one kind that arrive together are one.
  SignalReader(boost::asio::io_context& io, const std::vector<int>& signals,
               std::function<void(int)> on_signal);

 private:
  void wait();
  void read();

  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void(int)> on_signal_;
};

}  // namespace ddprun::agent
