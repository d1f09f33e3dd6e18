// Where a sample takes its images from: options --data and --digits.
#pragma once

#include <string>

#include "samples/common/digits_csv.h"
#include "samples/common/option_table.h"

namespace digits {

struct ImageSource {
  std::string data;    // a folder of IDX files; empty: the digits file
  std::string digits;  // empty: default_digits_path()

  void add_options(samples::OptionTable& table);
  // After parsing: throws std::invalid_argument if both were given.
  void check() const;

  // "FOLDER (28x28)", or "handwritten digits (8x8, enlarged to 28x28)": for tables.
  std::string describe(const LabeledImages& images) const;

  // Throws std::runtime_error naming the file; where the digits are not there, how to get them.
  Split read() const;
};

// The lines of --help that belong to it.
extern const char* const kImageSourceHelp;

}  // namespace digits
