#include "launcher/output/console_stream.h"

#include <utility>

#include "launcher/output/progress_bar.h"

namespace ddprun::output {

void ConsoleStream::show(std::string_view bytes) {
  if (style_.raw) {
    in_line_ = bytes.back() != '\n';
    return console_->append_raw(bytes);
  }
  splitter_.feed(bytes, [this](std::string_view lines) { show_lines(lines); });
  if (style_.bars) update_bar();
}

const std::string& ConsoleStream::prefix_now() {
  if (!style_.prefix.has_time()) return style_.prefix.text();
  return style_.prefix.text(time_text(std::chrono::system_clock::now()));
}

void ConsoleStream::show_lines(std::string_view lines) {
  const std::string& prefix = prefix_now();
  if (style_.bars && lines.find('\r') != lines.npos)
    return console_->append_lines(prefix, visible_lines(lines));
  console_->append_lines(prefix, lines);
}

// A bar that runs for days must not pile up its frames, so only the last one is kept.
void ConsoleStream::update_bar() {
  const std::string_view partial = splitter_.partial();
  const bool is_bar = partial.find('\r') != partial.npos;
  if (!is_bar && !has_bar_) return;
  has_bar_ = is_bar;
  if (!is_bar) return console_->set_bar(style_.order, "");
  std::string frame = visible_part(partial);
  console_->set_bar(style_.order, prefix_now() + frame);
  splitter_.set_partial("\r" + frame + (partial.back() == '\r' ? "\r" : ""));
}

void ConsoleStream::finish() {
  // On a shared console the other stream may have ended the line already.
  if (std::exchange(in_line_, false)) console_->end_line();
  splitter_.finish([this](std::string_view lines) { show_lines(lines); });
  if (std::exchange(has_bar_, false)) console_->set_bar(style_.order, "");
}

}  // namespace ddprun::output
