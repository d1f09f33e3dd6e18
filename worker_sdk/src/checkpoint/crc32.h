// The check sum of zip files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ddp::detail {

// CRC-32 (the one of zlib) of `count` more bytes after those whose check sum is `crc`; 0 for none.
std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t count);

}  // namespace ddp::detail
