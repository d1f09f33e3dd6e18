// Numbers in little-endian order, as zip files, pickles and safetensors hold them.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace ddp::detail {

// The number at `at`, which the caller has checked to lie within `bytes`.
template <std::unsigned_integral Number>
Number little_endian(std::string_view bytes, std::size_t at = 0) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + i]);
    number = static_cast<Number>(number | static_cast<Number>(Number{byte} << (8 * i)));
  }
  return number;
}

template <std::unsigned_integral Number>
std::string to_little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
  }
  return bytes;
}

}  // namespace ddp::detail
