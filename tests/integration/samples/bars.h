// A data set that a small network learns at once: 28x28 images of bars, each as far from the left
// as its label says.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "tests/unit/samples/data_file.h"

namespace ddprun::test {

inline std::string bars(std::uint32_t count) {
  std::string bytes = digits::big_endian({0x803, count, 28, 28});
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t pixel = 0; pixel < 28 * 28; ++pixel) {
      bytes.push_back(pixel % 28 / 2 == 2 + i % 10 ? '\xff' : '\0');
    }
  }
  return bytes;
}

inline std::string bar_labels(std::uint32_t count) {
  std::string bytes = digits::big_endian({0x801, count});
  for (std::uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i % 10));
  return bytes;
}

inline void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The four files of a data set, two of them compressed.
inline void write_bars(const std::string& folder, std::uint32_t train, std::uint32_t test) {
  write(folder + "/train-images-idx3-ubyte.gz", digits::gzip(bars(train)));
  write(folder + "/train-labels-idx1-ubyte", bar_labels(train));
  write(folder + "/t10k-images-idx3-ubyte", bars(test));
  write(folder + "/t10k-labels-idx1-ubyte.gz", digits::gzip(bar_labels(test)));
}

}  // namespace ddprun::test
