// The part of the report that shows what the failed worker said.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "launcher/report/error_file.h"

namespace ddprun::report {

// What there is to show of one worker.
struct Said {
  std::vector<std::string> err;  // last lines of its stderr, oldest first, bytes as written
  std::vector<std::string> out;
  ErrorFile error_file;
  bool captured = true;  // false: ddprun did not see its output (--output inherit)
};

// Lines of the report, each without newline, that take at most `rows` rows of a terminal with
// `width` columns. The message of the error file first, unless it
// is one of the lines behind it; then the end of stderr; where that is short
// or empty, the end of stdout as well, because that is where many C++ programs explain themselves.
// A long line wraps over up to four rows before its middle is left out: the cause must not be cut
// off.
std::vector<std::string> last_output(const Said& said, std::size_t rows, std::size_t width);

}  // namespace ddprun::report
