// The lines that the parity test compares.
#pragma once

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

#include "ddp/ddp.h"

namespace ddp::test {

// zlib.crc32 of Python.
inline uint32_t crc32(const void* data, size_t size) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; ++i) {
    crc ^= static_cast<const unsigned char*>(data)[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0u);
  }
  return ~crc;
}

inline void print(const std::string& text) {
  std::cout << "rank " + std::to_string(rank()) + " " + text << std::endl;
}

inline void show(const std::string& what, const torch::Tensor& tensor) {
  std::array<char, 16> text{"none"};
  if (tensor.defined()) {
    const torch::Tensor dense = tensor.is_sparse() ? tensor.to_dense() : tensor;
    const torch::Tensor plain = dense.detach().contiguous();
    std::snprintf(text.data(), text.size(), "%08x", crc32(plain.data_ptr(), plain.nbytes()));
  }
  print(what + " " + text.data());
}

}  // namespace ddp::test
