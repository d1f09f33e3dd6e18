// Reads scikit-learn's digits.csv.gz: 1,797 handwritten digits of 8x8 pixels, the test set of the
// "Optical Recognition of Handwritten Digits" data of the UCI repository.
#pragma once

#include <string>

#include "samples/common/labeled_images.h"

namespace digits {

// A line holds 64 pixels from 0 to 16, row by row, and the digit. Throws std::runtime_error naming
// the file, the line, what was expected and what was found.
LabeledImages read_digits_csv(const std::string& path);

// Where the file is when nobody says it: $DIGITS_CSV, else
// ${XDG_CACHE_HOME:-~/.cache}/ddprun/digits/digits.csv.gz. (The variable does not begin with
// DDPRUN_: ddprun takes those out of its workers' environment.)
std::string default_digits_path();

struct Split {
  LabeledImages train;
  LabeledImages test;
};

// Every fifth image, from the first one on, is for the test. Always the same split, with all
// writers in both parts.
Split split_train_test(const LabeledImages& all);

}  // namespace digits
