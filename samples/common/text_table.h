// A table for the end of a sample.
#pragma once

#include <string>
#include <vector>

namespace samples {

// Lines of cells, the first of them the heads; columns are as wide as their widest cell, the first
// to the left and the others to the right. Every line ends with a newline.
std::string text_table(const std::vector<std::vector<std::string>>& lines);

// "0.92": with so many digits behind the point.
std::string fixed(double number, int digits);

}  // namespace samples
