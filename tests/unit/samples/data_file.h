// Files that the tests of the readers write: plain, gzip and damaged ones.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/unit/error_of.h"

namespace digits {

// A folder of its own for a test, removed at its end.
class DataFolder {
 public:
  std::string path(const std::string& name = "") const { return folder_ / name; }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  ddprun::test::TemporaryFolder folder_;
};

// Each number as four bytes, the highest first, as in the header of an IDX file.
inline std::string big_endian(std::initializer_list<std::uint32_t> numbers) {
  std::string bytes;
  for (const auto number : numbers) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(number >> shift));
  }
  return bytes;
}

inline std::string gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);  // + 16: with a gzip header
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

using ddprun::test::error_of;

}  // namespace digits
