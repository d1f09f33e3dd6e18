// Reads one stream of one worker and passes it to the console, to its log file and to the tail.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "launcher/output/console_stream.h"
#include "launcher/output/filtered_log.h"
#include "launcher/output/log_file.h"
#include "launcher/output/tail.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::output {

// Owns the read end of a Channel until its end. A silent stream costs a few hundred bytes.
//
// Without a log file it pauses while the console is full, which in turn makes the worker wait in
// write(). With one it goes on: the file gets the bytes, and the console gets them out of the file
// once there is room again. So a console that nobody reads costs neither time nor memory.
//
// Used on the thread that runs the io_context only. Held by shared_ptr, because a wait may outlive
// its owner.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  struct Setup {
    std::optional<ConsoleStream> shown;  // none: it is not shown
    std::optional<LogFile> file;
    std::optional<LineFilter> filter;
    std::size_t tail_limit = kTailBytes;
    std::span<char> buffer;       // borrowed, shared by all captures of one thread
    std::function<void()> ended;  // called once at the end, however it came
    // The file at this path cannot be written: errno. The stream goes on without it.
    std::function<void(const std::string&, int)> file_failed;
  };

  // Takes `read_end` and starts to read.
  static std::shared_ptr<Capture> start(boost::asio::io_context& io, UniqueFd read_end,
                                        Setup setup);

  bool open() const { return stream_.is_open(); }
  const Tail& tail() const { return tail_; }
  const std::optional<LogFile>& file() const { return setup_.file; }

  // Bytes that are in the file and not on the console yet.
  std::uint64_t behind() const { return behind_; }
  // They stay in the file. Returns their number.
  std::uint64_t skip_behind();

  // Reads what is there without waiting, as far as the console has room.
  void read_now();
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

  bool must_pause() const;
  void wait();
  void read_available();
  Read read_once();
  void take(std::string_view bytes);
  void write_file(std::string_view bytes);
  void show(std::string_view bytes);
  void catch_up();
  void catch_up_later();
  void finish_shown();

  boost::asio::posix::stream_descriptor stream_;
  Setup setup_;
  Tail tail_;
  bool file_works_;
  bool waiting_ = false;  // for the stream or for the console
  std::uint64_t behind_ = 0;
  std::uint64_t shown_until_ = 0;  // where in the file these bytes begin
  std::string unsaved_;            // read behind them when the file could not be written any more
  std::size_t last_read_ = 0;
};

}  // namespace ddprun::output
