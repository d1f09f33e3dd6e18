#include "launcher/output/console.h"

#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <utility>

#include "launcher/output/channel.h"
#include "launcher/output/prefix.h"

namespace ddprun::output {
namespace {

constexpr std::string_view kClearRow = "\r\x1b[K";
constexpr std::string_view kPlain = "\x1b[0m";

}  // namespace

std::shared_ptr<Console> Console::make(boost::asio::io_context& io, int fd) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTTOU, SIG_IGN);
  return std::shared_ptr<Console>(new Console(io, fd));
}

Console::Console(boost::asio::io_context& io, int fd) : io_(io), fd_(fd), sink_(fd), waiter_(io) {
  UniqueFd waiter = sink_.make_waiter();
  if (!waiter) return;
  boost::system::error_code refused;
  waiter_.assign(waiter.get(), refused);
  if (!refused) waiter.release();
}

void Console::append_lines(std::string_view prefix, std::string_view lines) {
  if (discarding_ || lines.empty()) return;
  clear_bar();
  if (prefix.empty()) {
    back_.append(lines);
  } else {
    append_prefixed(back_, prefix, lines);
  }
  in_line_ = false;
  schedule_write();
}

void Console::append_raw(std::string_view bytes) {
  if (discarding_ || bytes.empty()) return;
  back_.append(bytes);
  in_line_ = bytes.back() != '\n';
  schedule_write();
}

void Console::end_line() {
  if (in_line_) append_raw("\n");
}

void Console::append_note(std::string_view lines) {
  end_line();
  append_lines("", lines);
}

void Console::set_bar(int stream, std::string bar) {
  bars_.set(stream, std::move(bar));
  if (!discarding_ && bars_.shown() != drawn_) schedule_write();
}

void Console::clear_bar() {
  if (drawn_.empty()) return;
  back_ += kClearRow;
  drawn_.clear();
}

// Once for each write, however many frames have come: what nobody could see costs nothing.
void Console::draw_bar() {
  if (discarding_ || full() || bars_.shown() == drawn_) return;
  clear_bar();
  drawn_ = bars_.shown();
  // In the last column the next character would begin a new row.
  const auto columns = static_cast<std::size_t>(terminal_width(fd_) - 1);
  back_ += clip(drawn_, columns);
  // A colour that was cut off in the middle.
  if (drawn_.find('\x1b') != std::string::npos) back_ += kPlain;
}

void Console::schedule_write() {
  if (std::exchange(scheduled_, true)) return;
  boost::asio::post(io_, [self = shared_from_this()] { self->write(); });
}

void Console::write() {
  scheduled_ = false;
  draw_bar();
  while (!discarding_ && !empty()) {
    if (!write_front()) break;
  }
  if (size() < kFull / 2) tell_drained();
  if (empty() && on_empty_) on_empty_();
}

// False when writing cannot go on now.
bool Console::write_front() {
  if (written_ == front_.size()) {
    front_.clear();
    written_ = 0;
    front_.swap(back_);
  }
  const ssize_t n = sink_.write(std::string_view(front_).substr(written_));
  if (n < 0) {
    fail(static_cast<int>(-n));
    return false;
  }
  if (n == 0) {
    wait_until_writable();
    return false;
  }
  written_ += static_cast<std::size_t>(n);
  total_written_ += static_cast<std::uint64_t>(n);
  return true;
}

void Console::wait_until_writable() {
  if (!waiter_.is_open()) return fail(EAGAIN);
  scheduled_ = true;
  waiter_.async_wait(sink_.waits_for_write() ? waiter_.wait_write : waiter_.wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error) self->write();
                     });
}

void Console::fail(int error) {
  give_up();
  if (on_problem_) on_problem_(error);
}

void Console::tell_drained() {
  for (const auto& resume : std::exchange(paused_, {})) resume();
}

std::size_t Console::give_up() {
  const std::size_t lost = size();
  discarding_ = true;
  front_ = {};
  back_ = {};
  written_ = 0;
  if (waiter_.is_open()) waiter_.close();
  boost::asio::post(io_, [self = shared_from_this()] { self->write(); });
  return lost;
}

void Console::close() {
  discarding_ = true;
  paused_.clear();
  on_empty_ = nullptr;
  on_problem_ = nullptr;
  if (waiter_.is_open()) waiter_.close();
}

}  // namespace ddprun::output
