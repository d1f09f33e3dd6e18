// Little-endian integers in a run of bytes.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

namespace ddprun::protocol {

static_assert(
    std::endian::native == std::endian::little,
    "the store protocol is a memory image of little-endian machines; byte swaps are needed here");

// The integer that lies at `bytes`, which need not be aligned.
template <class Integer>
Integer load(const char* bytes) {
  Integer value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Appends the integer's bytes to `out`.
template <class Integer>
void store(std::string& out, Integer value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace ddprun::protocol
