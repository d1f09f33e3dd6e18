// How one stream of a worker looks on the console.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "launcher/output/console.h"
#include "launcher/output/line_splitter.h"
#include "launcher/output/prefix.h"

namespace ddprun::output {

// `raw`: bytes as they come, so that prompts and progress bars need no newline; for the only worker
// of a node. Else whole lines behind `prefix`. With `bars` the console is a terminal that several
// workers share: a line that was overwritten with '\r' is shown as it ended, and an unfinished one
// is a progress bar in the terminal's last row.
struct Style {
  bool raw = false;
  bool bars = false;
  int order = 0;  // among the bars; the lowest one is shown
  Prefix prefix;
};

// Used on the thread that runs the console's io_context.
class ConsoleStream {
 public:
  ConsoleStream(std::shared_ptr<Console> console, Style style)
      : console_(std::move(console)), style_(std::move(style)) {}

  Console& console() const { return *console_; }
  // Bytes in pieces of any size.
  void show(std::string_view bytes);
  // At the end of the stream: completes the last line.
  void finish();

 private:
  const std::string& prefix_now();
  void show_lines(std::string_view lines);
  void update_bar();

  std::shared_ptr<Console> console_;
  Style style_;
  LineSplitter splitter_;
  bool in_line_ = false;  // raw bytes ended without a newline
  bool has_bar_ = false;
};

}  // namespace ddprun::output
