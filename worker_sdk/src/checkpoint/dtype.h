// The element types that a checkpoint may hold, by the names of both file formats.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ddp::detail {

enum class DType : std::uint8_t {
  Float32,
  Float64,
  Float16,
  BFloat16,
  Int64,
  Int32,
  Int16,
  Int8,
  UInt8,
  Bool,
  Complex64,
  Complex128,
  UInt16,
  UInt32,
  UInt64,
  Float8E4M3,
  Float8E5M2
};

struct DTypeInfo {
  DType type;
  std::string_view name;         // torch.NAME
  std::string_view storage;      // torch.NAMEStorage; empty: only UntypedStorage holds it
  std::string_view safetensors;  // its name there; empty: that format does not have it
  std::uint64_t size;            // bytes of an element
};

inline constexpr std::array<DTypeInfo, 17> kDTypes{{
    {DType::Float32, "float32", "FloatStorage", "F32", 4},
    {DType::Float64, "float64", "DoubleStorage", "F64", 8},
    {DType::Float16, "float16", "HalfStorage", "F16", 2},
    {DType::BFloat16, "bfloat16", "BFloat16Storage", "BF16", 2},
    {DType::Int64, "int64", "LongStorage", "I64", 8},
    {DType::Int32, "int32", "IntStorage", "I32", 4},
    {DType::Int16, "int16", "ShortStorage", "I16", 2},
    {DType::Int8, "int8", "CharStorage", "I8", 1},
    {DType::UInt8, "uint8", "ByteStorage", "U8", 1},
    {DType::Bool, "bool", "BoolStorage", "BOOL", 1},
    {DType::Complex64, "complex64", "ComplexFloatStorage", "C64", 8},
    {DType::Complex128, "complex128", "ComplexDoubleStorage", "", 16},
    {DType::UInt16, "uint16", "", "U16", 2},
    {DType::UInt32, "uint32", "", "U32", 4},
    {DType::UInt64, "uint64", "", "U64", 8},
    {DType::Float8E4M3, "float8_e4m3fn", "", "F8_E4M3", 1},
    {DType::Float8E5M2, "float8_e5m2", "", "F8_E5M2", 1},
}};

constexpr const DTypeInfo& info(DType type) {
  return kDTypes[static_cast<std::size_t>(type)];
}

// The type whose `field` is `text`, or null.
inline const DTypeInfo* find_dtype(std::string_view DTypeInfo::*field, std::string_view text) {
  for (const DTypeInfo& each : kDTypes) {
    if (!text.empty() && each.*field == text) return &each;
  }
  return nullptr;
}

}  // namespace ddp::detail
