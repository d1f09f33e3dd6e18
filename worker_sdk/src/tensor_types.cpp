#include "worker_sdk/src/tensor_types.h"

#include <array>

namespace ddp::detail {
namespace {

// In the order of DType.
constexpr std::array<c10::ScalarType, kDTypes.size()> kScalarTypes{
    c10::ScalarType::Float,         c10::ScalarType::Double,       c10::ScalarType::Half,
    c10::ScalarType::BFloat16,      c10::ScalarType::Long,         c10::ScalarType::Int,
    c10::ScalarType::Short,         c10::ScalarType::Char,         c10::ScalarType::Byte,
    c10::ScalarType::Bool,          c10::ScalarType::ComplexFloat, c10::ScalarType::ComplexDouble,
    c10::ScalarType::UInt16,        c10::ScalarType::UInt32,       c10::ScalarType::UInt64,
    c10::ScalarType::Float8_e4m3fn, c10::ScalarType::Float8_e5m2};

}  // namespace

c10::ScalarType to_scalar_type(DType type) {
  return kScalarTypes[static_cast<std::size_t>(type)];
}

std::optional<DType> to_dtype(c10::ScalarType type) {
  for (const DTypeInfo& each : kDTypes) {
    if (to_scalar_type(each.type) == type) return each.type;
  }
  return std::nullopt;
}

}  // namespace ddp::detail
