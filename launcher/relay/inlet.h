// The reading end of a pipe as events.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string_view>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::relay {

// Used on the thread that runs `io`; must outlive the last handler that `io` runs.
class Inlet {
 public:
  struct Hooks {
    std::function<void(std::string_view)> bytes;  // the view is valid during the call
    std::function<void()> end;                    // nothing more comes; may be empty
    // True: nothing can be taken now, and `resume` is called when it can. May be empty.
    std::function<bool(std::function<void()> resume)> full;
  };

  explicit Inlet(boost::asio::io_context& io) : descriptor_(io) {}

  // Reads from now on. Makes `fd` non-blocking, which nobody else must read.
  void open(UniqueFd fd, Hooks hooks);
  bool is_open() const { return descriptor_.is_open(); }
  // Takes what is there without waiting, whether there is room for it or not, and ends.
  void drain_now();

 private:
  void wait();
  // False at the end.
  bool read_once();
  void finish();

  boost::asio::posix::stream_descriptor descriptor_;
  Hooks hooks_;
};

}  // namespace ddprun::relay
