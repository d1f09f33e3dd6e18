// One of our own output streams: everything that goes there passes through one Console, in one
// order.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/output/progress_bar.h"
#include "launcher/output/sink.h"

namespace ddprun::output {

// Collects what the handlers of one wake-up append and writes it with one system call. Never
// blocks: what the stream's reader does not take waits here, and whoever feeds the console pauses
// while it is full().
//
// Used on the thread that runs the io_context only. Held by shared_ptr, because a wait may outlive
// its owner.
class Console : public std::enable_shared_from_this<Console> {
 public:
  // Readers of workers pause above this, so memory is bounded by this and one read.
  static constexpr std::size_t kFull = std::size_t{1} << 20;

  // Borrows `fd`. Makes the process ignore SIGPIPE, so that a reader that goes (`| head`) is an
  // error code, and SIGTTOU, because we write to the terminal from a background process group
  // (`stty tostop`).
  static std::shared_ptr<Console> make(boost::asio::io_context& io, int fd);

  bool is_terminal() const { return sink_.is_terminal(); }
  bool same_file(const Console& other) const { return sink_.same_file(other.sink_); }

  // Whole lines, each behind `prefix`, which may be empty.
  void append_lines(std::string_view prefix, std::string_view lines);
  // Bytes of the only worker as they come.
  void append_raw(std::string_view bytes);
  // Ends the line in which raw bytes left the stream, if they did.
  void end_line();
  // Whole lines of ddprun itself; begins a new line if raw bytes left the stream in the middle of
  // one.
  void append_note(std::string_view lines);

  // Shows `bar` in the last row of the terminal while no stream with a lower number has one; lines
  // appear above it. It is cut to the terminal's width and stays until it is replaced, or taken
  // away with an empty text.
  void set_bar(int stream, std::string bar);

  bool full() const { return size() >= kFull; }
  bool empty() const { return size() == 0; }
  // Bytes waiting.
  std::size_t size() const { return back_.size() + front_.size() - written_; }
  // Bytes that the stream has taken so far.
  std::uint64_t total_written() const { return total_written_; }

  // Nothing is written any more: its reader is gone, or it was given up.
  bool discarding() const { return discarding_; }

  // Calls `resume` once, from the event loop, when half of the room is free again or the stream is
  // gone.
  void call_when_drained(std::function<void()> resume) { paused_.push_back(std::move(resume)); }
  // Calls back soon even if nothing was appended: for who waits for it to be empty.
  void wake() { schedule_write(); }
  // Called each time when nothing is waiting any more.
  void on_empty(std::function<void()> empty) { on_empty_ = std::move(empty); }
  // Called once with the errno when the stream cannot be written: EPIPE when its reader has gone
  // (EIO from a terminal), ENOSPC when the disk is full. From then on everything is discarded.
  void on_problem(std::function<void(int)> problem) { on_problem_ = std::move(problem); }

  // Writes nothing any more and discards what comes. Returns the number of bytes that were waiting.
  std::size_t give_up();
  // Ends waiting and forgets the callbacks. For the owner's end.
  void close();

 private:
  Console(boost::asio::io_context& io, int fd);

  void clear_bar();
  void draw_bar();
  void schedule_write();
  void write();
  bool write_front();
  void wait_until_writable();
  void fail(int error);
  void tell_drained();

  boost::asio::io_context& io_;
  int fd_;
  Sink sink_;
  boost::asio::posix::stream_descriptor waiter_;
  std::string front_;  // being written, from `written_` on
  std::size_t written_ = 0;
  std::string back_;        // being filled
  bool scheduled_ = false;  // a write is posted or a wait is pending
  bool discarding_ = false;
  bool in_line_ = false;  // the last byte appended was not a newline
  Bars bars_;
  std::string drawn_;  // the bar in the terminal's last row, as far as back_ has come
  std::uint64_t total_written_ = 0;
  std::vector<std::function<void()>> paused_;
  std::function<void()> on_empty_;
  std::function<void(int)> on_problem_;
};

}  // namespace ddprun::output
