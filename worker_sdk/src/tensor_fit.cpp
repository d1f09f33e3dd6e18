#include "worker_sdk/src/tensor_fit.h"

#include <ATen/MemoryOverlap.h>
#include <c10/util/StringUtil.h>

namespace ddp::detail {
namespace {

// Empty for a tensor with a plain value for each element.
std::string unusual_form(const at::Tensor& tensor) {
  if (tensor.is_nested()) return "a nested tensor";
  if (tensor.is_quantized()) return "a quantized tensor";
  if (tensor.layout() != c10::kStrided) return "a sparse tensor";
  if (tensor.is_meta()) return "a tensor without values, on the device meta";
  return "";
}

}  // namespace

std::string misfit(const at::Tensor& to, const at::Tensor& from) {
  const std::string own = unusual_form(to), given = unusual_form(from);
  if (!given.empty()) return "is " + given + ", expected a dense one";
  if (!own.empty()) return "is dense, and the module has " + own;
  if (to.sizes() != from.sizes()) return c10::str("is ", from.sizes(), ", expected ", to.sizes());
  if (at::has_internal_overlap(to) != at::MemOverlap::Yes) return "";
  return "cannot be loaded: elements of the module's tensor share memory, as expand() makes them";
}

}  // namespace ddp::detail
