#include "worker_sdk/src/checkpoint/crc32.h"

#include <array>
#include <cstring>

namespace ddp::detail {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Eight tables, so that eight bytes take one step: a checkpoint may have gigabytes.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
    tables[0][i] = crc;
  }
  for (std::size_t i = 0; i < 256; ++i) {
    for (std::size_t k = 1; k < 8; ++k) {
      const std::uint32_t before = tables[k - 1][i];
      tables[k][i] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t count) {
  const auto* at = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (; count >= 8; count -= 8, at += 8) {
    std::uint32_t low, high;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][high >> 8 & 0xff] ^
          kTables[1][high >> 16 & 0xff] ^ kTables[0][high >> 24];
  }
  for (; count > 0; --count, ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  return ~crc;
}

}  // namespace ddp::detail
