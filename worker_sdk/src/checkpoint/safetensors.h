// The header of a safetensors file: JSON that says where each tensor lies in the bytes behind it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "worker_sdk/src/checkpoint/byte_source.h"
#include "worker_sdk/src/checkpoint/dtype.h"

namespace ddp::detail {

struct SafeTensor {
  std::string name;
  DType type = DType::Float32;
  std::vector<std::int64_t> sizes;
  std::uint64_t begin = 0, end = 0;  // bytes behind the header; contiguous, rows first
};

struct SafetensorsHeader {
  std::vector<SafeTensor> tensors;              // by where they lie
  std::map<std::string, std::string> metadata;  // free text of the writer
  std::uint64_t data = 0;                       // offset in the file of the first tensor
};

// Throws BadFile for anything that the format does not allow: JSON that is not strict, a name
// twice, an unknown type, sizes that do not agree with the bytes, tensors that overlap, gaps, a
// wrong end.
SafetensorsHeader read_safetensors_header(ByteSource& source);

// What stands before the first tensor. begin and end are set here from types and sizes, in the
// order given, which should be by falling size of the elements, so that all are aligned. Throws
// BadFile for a name that comes twice or is not UTF-8, and a type that the format does not have.
std::string write_safetensors_header(std::vector<SafeTensor>& tensors,
                                     const std::map<std::string, std::string>& metadata);

}  // namespace ddp::detail
