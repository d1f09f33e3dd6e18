#include "launcher/report/last_output.h"

#include <algorithm>

#include "launcher/report/printable.h"

namespace ddprun::report {
namespace {

constexpr const char* kMargin = "    | ";
constexpr std::size_t kMarginColumns = 6;
constexpr std::size_t kRowsOfALine = 4;
constexpr std::size_t kRowsOfAMessage = 6;
// With this much of stderr, stdout is not worth the room.
constexpr std::size_t kEnoughStderr = 6;
constexpr std::size_t kRowsOfStdoutBeside = 6;

using Lines = std::vector<std::string>;

std::size_t rows_of(const std::string& line, std::size_t width) {
  return (std::max<std::size_t>(columns(line), 1) + width - 1) / width;
}

Lines shown(const Lines& lines, std::size_t width, std::size_t rows_of_a_line = kRowsOfALine) {
  Lines result;
  for (const std::string& line : lines) {
    result.push_back(kMargin + shorten(printable(line), rows_of_a_line * width - kMarginColumns));
  }
  const auto blank = [](const std::string& line) {
    return line.find_first_not_of(' ', kMarginColumns) == std::string::npos;
  };
  while (!result.empty() && blank(result.back())) result.pop_back();
  return result;
}

std::size_t rows_of(const Lines& lines, std::size_t width) {
  std::size_t rows = 0;
  for (const std::string& line : lines) rows += rows_of(line, width);
  return rows;
}

// Keeps the last lines that fit into `rows`; the first ones with `keep_first`.
void fit(Lines& lines, std::size_t rows, std::size_t width, bool keep_first = false) {
  std::size_t taken = rows_of(lines, width);
  std::size_t dropped = 0;
  while (taken > rows) {
    taken -= rows_of(keep_first ? lines[lines.size() - 1 - dropped] : lines[dropped], width);
    ++dropped;
  }
  const auto count = static_cast<std::ptrdiff_t>(dropped);
  lines.erase(keep_first ? lines.end() - count : lines.begin(),
              keep_first ? lines.end() : lines.begin() + count);
}

std::size_t minus(std::size_t a, std::size_t b) {
  return a - std::min(a, b);
}

struct Room {
  std::size_t rows;
  std::size_t width;
};

void add_block(Lines& report, Room& room, const std::string& title, const Lines& block) {
  if (block.empty()) return;
  report.push_back(shorten("  " + title + ":", room.width));
  report.insert(report.end(), block.begin(), block.end());
  room.rows = minus(room.rows, 1 + rows_of(block, room.width));
}

Lines error_file_part(const ErrorFile& file, Room& room) {
  Lines report;
  if (!file.remark.empty()) {
    report.push_back("  " + shorten(printable(file.remark), room.width - 2));
    room.rows = minus(room.rows, 1);
  }
  const std::size_t most = std::min(kRowsOfAMessage, room.rows / 2);
  Lines message = shown(file.message, room.width, std::clamp<std::size_t>(most, 1, kRowsOfALine));
  fit(message, most, room.width, true);
  add_block(report, room, "its error.json says", message);
  return report;
}

// The ends of both streams, or of the one that has something.
void add_streams(Lines& report, Room& room, Lines err, Lines out) {
  if (rows_of(err, room.width) >= kEnoughStderr) out.clear();
  if (!err.empty()) fit(out, std::min(kRowsOfStdoutBeside, room.rows / 2), room.width);
  if (err.empty()) fit(out, minus(room.rows, 1), room.width);
  const std::size_t for_out = out.empty() ? 0 : 1 + rows_of(out, room.width);
  fit(err, minus(room.rows, 1 + for_out), room.width);
  const bool both = !err.empty() && !out.empty();
  add_block(report, room, both ? "its last output on stderr" : "its last output", err);
  add_block(report, room, both ? "and on stdout" : "its last output (stdout)", out);
}

// Whether one of the lines that are shown is the message, behind a prefix ("[rank 1] ") at most.
bool shows(const Lines& report, const Lines& message) {
  if (message.size() != 1) return false;
  const std::string text = printable(message[0]);
  return std::any_of(report.begin(), report.end(), [&](const std::string& line) {
    return line == kMargin + text || line.ends_with("] " + text);
  });
}

}  // namespace

std::vector<std::string> last_output(const Said& said, std::size_t rows, std::size_t width) {
  Room room{rows, std::max<std::size_t>(width, 20)};
  const ErrorFile& file = said.error_file;
  Lines err = shown(said.err, room.width);
  const Lines out = shown(said.out, room.width);
  Lines streams;
  Room whole = room;
  add_streams(streams, whole, err, out);
  if (shows(streams, file.message)) return streams;
  Lines report = error_file_part(file, room);
  if (err.empty()) err = shown(file.callstack, room.width);
  if (err.empty() && out.empty() && report.empty())
    return {said.captured ? "  it wrote nothing"
                          : "  its output was not captured (--output inherit)"};
  add_streams(report, room, std::move(err), out);
  return report;
}

}  // namespace ddprun::report
