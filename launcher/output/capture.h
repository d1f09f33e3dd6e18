// Reads one stream of one worker and passes it to the console and to the tail.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "launcher/output/console.h"
#include "launcher/output/line_splitter.h"
#include "launcher/output/tail.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::output {

// How a stream goes to the console. `raw`: as it comes, so that prompts and progress bars need no
// newline; else in whole lines behind `prefix`.
struct Style {
  bool raw = false;
  std::string prefix;
};

// Owns the read end of a Channel until its end. Pauses while the console is full, which in turn
// makes the worker wait in write(). A silent stream costs a few hundred bytes.
//
// Used on the thread that runs the io_context only. Held by shared_ptr, because a wait may outlive
// its owner.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  struct Setup {
    std::shared_ptr<Console> console;
    Style style;
    std::size_t tail_limit = kTailBytes;
    std::span<char> buffer;       // borrowed, shared by all captures of one thread
    std::function<void()> ended;  // called once at the end, however it came
  };

  // Takes `read_end` and starts to read.
  static std::shared_ptr<Capture> start(boost::asio::io_context& io, UniqueFd read_end,
                                        Setup setup);

  bool open() const { return stream_.is_open(); }
  const Tail& tail() const { return tail_; }

  // Reads what is there without waiting (console full or not; at most 1 MiB, in case somebody
  // writes for ever), completes the last line and closes. Nothing happens when the stream has
  // ended.
  void drain_now();
  // Completes the last line and closes; what was not read is lost. The descriptor leaves epoll
  // before it is closed: a vfork child may still hold a copy of it, whose events would otherwise
  // keep coming.
  void close();

 private:
  enum class Read { some, nothing, end };

  Capture(boost::asio::io_context& io, Setup setup);

  void wait();
  void read_available();
  Read read_once();
  void take(std::string_view bytes);

  boost::asio::posix::stream_descriptor stream_;
  Setup setup_;
  LineSplitter splitter_;
  Tail tail_;
  bool in_line_ = false;  // raw bytes ended without a newline
  std::size_t last_read_ = 0;
};

}  // namespace ddprun::output
