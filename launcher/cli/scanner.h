// Splits the command line: ddprun's options, and behind them PROGRAM and its arguments, which
// nobody else looks at.
//
// Program_options does not do this part: it would guess prefixes and take the program's own
// options.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/options.h"
#include "rendezvous/base/result.h"

namespace ddprun::cli {

// One option as given. The value of a flag is "1".
struct Given {
  const Option* option;
  std::string value;
};

struct Scan {
  std::vector<Given> options;        // in their order; the same one may be there more than once
  std::vector<std::string> command;  // PROGRAM and its arguments, byte for byte; may be empty
  bool separator = false;            // a `--` stood before PROGRAM
};

// Reads `words` (without argv[0]) up to the first that is not an option, or `--`. --help,
// --version and --print-completion end the scan, so that what is wrong behind them does not matter.
// An Error is one line that names the word; values are not looked into.
Result<Scan> scan(const std::vector<std::string>& words);

}  // namespace ddprun::cli
