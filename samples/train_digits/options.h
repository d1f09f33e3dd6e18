// The command line of train_digits.
#pragma once

#include <string>
#include <vector>

#include "samples/common/image_source.h"

namespace digits {

struct Options {
  int epochs = 15;
  int batch_size = 32;  // of each rank
  double learning_rate = 0.002;
  std::string save = "train_digits.pt";
  ImageSource images;
  bool help = false;
};

// Throws std::invalid_argument naming the word and what was expected. Both "--epochs 3" and
// "--epochs=3" are right.
Options parse_options(const std::vector<std::string>& arguments);

std::string help();

}  // namespace digits
