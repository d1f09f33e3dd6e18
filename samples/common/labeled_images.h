// What the readers of the samples return: small grey images, each with the number that it shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace digits {

// `pixels` holds the images one after the other, row by row; 0 is background, `white` the brightest
// value.
struct LabeledImages {
  std::size_t rows = 0;
  std::size_t columns = 0;
  int white = 255;
  std::vector<std::uint8_t> pixels;  // size() * rows * columns
  std::vector<std::uint8_t> labels;  // 0 … 9

  std::size_t size() const { return labels.size(); }
};

}  // namespace digits
