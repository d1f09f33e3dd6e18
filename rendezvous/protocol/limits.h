// How much one request may ask for. A length over a limit is refused when the length is read,
// before any of its bytes are taken.
#pragma once

#include <cstdint>

namespace ddprun::protocol {

// PyTorch's libuv server closes above 8 KiB for a key, 8 MiB for a value and 131,072 keys in a
// request. Our defaults are larger, because its older server had no limits and programs came to
// depend on that.
struct Limits {
  std::uint64_t max_key_bytes = 64 << 10;
  std::uint64_t max_value_bytes = 64 << 20;
  std::uint64_t max_keys_per_request = 128 << 10;
  std::uint64_t max_request_bytes = 256 << 20;  // all operands of one request together
};

// What every server must accept, because PyTorch's does. A server refuses to start with less.
inline constexpr Limits kLimitFloor{8 << 10, 8 << 20, 128 << 10, 16 << 20};

}  // namespace ddprun::protocol
