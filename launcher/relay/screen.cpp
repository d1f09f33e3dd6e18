#include "launcher/relay/screen.h"

#include <unistd.h>

#include <utility>

namespace ddprun::relay {

Screen::Screen(boost::asio::io_context& io, hosts::Debts debts, ScreenHooks hooks)
    : debts_(std::move(debts)),
      hooks_(std::move(hooks)),
      out_(output::Console::make(io, STDOUT_FILENO)),
      err_(output::Console::make(io, STDERR_FILENO)) {
  // Two buffers in front of one pipe would mix lines.
  if (err_->same_file(*out_)) err_ = out_;
  watch(*out_, "stdout");
  if (err_ != out_) watch(*err_, "stderr");
}

void Screen::watch(output::Console& console, const char* name) {
  console.on_empty([this] { hooks_.empty(); });
  console.on_problem([this, name](int) { hooks_.closed(name); });
}

output::Console& Screen::console_of(int stream) {
  return stream == STDERR_FILENO ? *err_ : *out_;
}

void Screen::show(const hosts::Lines& lines) {
  output::Console& console = console_of(lines.stream);
  debts_.take(lines);
  if (!hurried_ || !console.full()) console.append_lines("", lines.text);
  if (!hurried_ && console.full()) return settle_when_drained(lines.stream);
  if (const auto credit = debts_.settle(lines.index, lines.stream)) hooks_.give(*credit);
}

void Screen::settle_when_drained(int stream) {
  if (std::exchange(waiting_.at(stream == STDERR_FILENO ? 1 : 0), true)) return;
  console_of(stream).call_when_drained([this, stream] {
    waiting_.at(stream == STDERR_FILENO ? 1 : 0) = false;
    settle_all(stream);
  });
}

void Screen::settle_all(int stream) {
  for (const hosts::Credit& credit : debts_.settle_all(stream)) hooks_.give(credit);
}

void Screen::hurry() {
  hurried_ = true;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) settle_all(stream);
}

}  // namespace ddprun::relay
