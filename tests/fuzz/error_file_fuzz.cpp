// Any bytes as the error.json of a worker: it is understood or there is a remark, what is shown of
// it fits and steers no terminal, and what torchrun is passed stays JSON. And any texts as those
// that our own SDK writes: all of them are read again.
#include <boost/json/parse.hpp>
#include <cstdint>

#include "launcher/report/error_file.h"
#include "launcher/report/last_output.h"
#include "launcher/report/printable.h"
#include "tests/fuzz/checks.h"
#include "worker_sdk/src/checkpoint/bad_file.h"
#include "worker_sdk/src/error_file.h"

namespace {

using namespace ddprun;
using fuzz::require;

void check_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) require(line.find('\n') == std::string::npos);
}

void check_shown(const report::ErrorFile& file, std::size_t rows, std::size_t width) {
  const report::Said said{.err = file.callstack, .out = file.message, .error_file = file};
  std::size_t used = 0;
  for (const std::string& line : report::last_output(said, rows, width)) {
    require(fuzz::is_printable(line));
    used += std::max<std::size_t>(1, (report::columns(line) + width - 1) / width);
  }
  require(used <= rows);
}

void check_passed_on(const std::string& text) {
  const std::string passed = report::with_error_code(text, 7);
  require(report::with_error_code(passed, 7) == passed);
  if (passed == text) return;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(passed, error);
  require(!error && value.at("message").at("errorCode").as_int64() == 7);
}

void check_read(const std::string& text, std::uint8_t size) {
  const report::ErrorFile file = report::parse_error_file(text);
  require(file.text == text);
  require(text.empty() || file.remark.empty() != file.message.empty());
  check_lines(file.message);
  check_lines(file.callstack);
  for (const int rank : file.waited_for) require(rank >= 0);
  check_shown(file, 4 + size % 40, 20 + size % 180);
  check_passed_on(text);
}

// The lines of a text as the reader gives them; bytes that are not UTF-8 are question marks.
std::vector<std::string> lines_of(std::string text) {
  if (!ddp::detail::is_utf8(text))
    for (char& c : text)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  std::vector<std::string> lines;
  for (const std::string_view line : fuzz::split(text, '\n')) lines.emplace_back(line);
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

void check_written(const std::string& message, const std::string& stack) {
  const report::ErrorFile file =
      report::parse_error_file(ddp::detail::error_json(message, stack, 1, {3, 5}));
  require(file.message == lines_of(message) && file.callstack == lines_of(stack));
  require((file.waited_for == std::vector<int>{3, 5}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(fuzz::view_of(data + 1, size - 1));
  check_read(text, data[0]);
  check_written(text.substr(0, text.size() / 2), text.substr(text.size() / 2));
  return 0;
}
