// Any output of a worker, in pieces of any size: lines are the same wherever they are cut, what is
// kept of them are the last ones, and nothing that is shown steers a terminal or is wider than
// asked for. The first byte of the input is the size of the pieces, the second the width.
#include <cstdint>

#include "launcher/output/filtered_log.h"
#include "launcher/output/line_splitter.h"
#include "launcher/output/prefix.h"
#include "launcher/output/progress_bar.h"
#include "launcher/output/tail.h"
#include "launcher/report/printable.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

void check_splitter(std::string_view bytes, std::size_t step) {
  std::string lines;
  const auto take = [&](std::string_view more) {
    require(more.ends_with('\n'));
    lines += more;
  };
  output::LineSplitter splitter;
  fuzz::in_pieces(bytes, step, [&](std::string_view piece) { splitter.feed(piece, take); });
  splitter.finish(take);
  std::string whole(bytes);
  if (!whole.empty() && whole.back() != '\n') whole += '\n';
  require(lines == whole);
}

// Lines that are too long come in pieces, and no memory is used for more than one of them.
void check_short_lines(std::string_view bytes, std::size_t step) {
  constexpr std::size_t kLongest = 16;
  std::string out;
  output::LineSplitter splitter(kLongest);
  fuzz::in_pieces(bytes, step, [&](std::string_view piece) {
    splitter.feed(piece, [&](std::string_view more) { out += more; });
    require(splitter.partial().size() < kLongest);
  });
  splitter.finish([&](std::string_view more) { out += more; });
  std::string read(bytes);
  std::erase(out, '\n');
  std::erase(read, '\n');
  require(out == read);
}

void check_tail(std::string_view bytes, std::size_t step, std::size_t limit) {
  output::Tail tail(limit);
  fuzz::in_pieces(bytes, step, [&](std::string_view piece) { tail.add(piece); });
  const std::vector<std::string> kept = tail.lines();
  std::vector<std::string_view> all = fuzz::split(bytes, '\n');
  if (all.back().empty()) all.pop_back();
  require(kept.size() <= std::min(all.size(), output::kTailLines));
  require(kept.empty() == bytes.empty() || all.empty());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::string_view line = all[all.size() - kept.size() + i];
    require(kept.size() == 1 ? line.ends_with(kept[i]) : line == kept[i]);
  }
  require(bytes.size() > limit || all.size() > output::kTailLines || kept.size() == all.size());
}

void check_shown(const std::string& text, std::size_t width) {
  const std::string shown = report::printable(text);
  require(fuzz::is_printable(shown) && fuzz::is_printable(printable(text)));
  require(valid_utf8(valid_utf8(text)) == valid_utf8(text));
  const std::string brief = report::shorten(shown, width);
  require(fuzz::is_printable(brief) && (width < 8 || report::columns(brief) <= width));
  require(report::columns(shown) > width || brief == shown);
}

void check_bars(const std::string& text, std::size_t width) {
  const std::string seen = output::visible_part(text);
  require(seen.find('\r') == std::string::npos && seen.size() <= text.size());
  require(output::visible_part(seen) == seen);
  const std::string lines = output::visible_lines(text);
  require(std::ranges::count(lines, '\n') ==
          std::ranges::count(text, '\n') + (text.empty() || text.ends_with('\n') ? 0 : 1));
  const std::string clipped = output::clip(text, width);
  require(clipped.size() <= text.size() && output::clip(clipped, width) == clipped);
}

void check_prefix(const std::string& text) {
  output::Prefix prefix(text, {.rank = 3, .role_name = "trainer", .hostname = "n", .stream = "o"});
  const std::string out = prefix.text("12:00");
  require(text.find('$') != std::string::npos || out == text);
  std::string lines;
  output::append_prefixed(lines, "[3] ", text + "\n");
  require(lines.ends_with('\n') && lines.starts_with("[3] "));
  require(output::matching_lines(text, {}, "").empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t step = 1 + data[0] % 32, width = data[1];
  const std::string text(fuzz::view_of(data + 2, size - 2));
  check_splitter(text, step);
  check_short_lines(text, step);
  check_tail(text, step, 1 + width);
  check_shown(text, width);
  check_bars(text, width);
  check_prefix(text);
  return 0;
}
