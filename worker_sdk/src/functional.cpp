#include "ddp/functional.h"

#include <torch/torch.h>

#include <sstream>

#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/usable_device.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp::functional {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ddp::detail::rank_if_known(ddp::detail::process_environment()), text);
}

std::string describe(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << ' ' << tensor.sizes();
  return text.str();
}

void check_devices(const std::string& what, const std::vector<c10::Device>& devices) {
  if (devices.empty()) refuse(what + ": expected at least one device, found none");
  for (const c10::Device& device : devices) ddp::detail::require_usable(device, what);
}

}  // namespace

namespace detail {

bool same_device(const c10::Device& one, const c10::Device& other) {
  return one.type() == other.type() &&
         (one.index() == other.index() || !one.has_index() || !other.has_index());
}

std::vector<at::Tensor> scatter(const char* what, const at::Tensor& tensor,
                                const std::vector<c10::Device>& devices, std::int64_t dim) {
  check_devices(what, devices);
  if (tensor.defined() && tensor.dim() > 0 && (dim < -tensor.dim() || dim >= tensor.dim())) {
    refuse(std::string(what) + ": dim is " + std::to_string(dim) + "; it must be " +
           std::to_string(-tensor.dim()) + " to " + std::to_string(tensor.dim() - 1) + " for " +
           describe(tensor));
  }
  if (tensor.defined() && dim < 0) dim += tensor.dim();
  if (!tensor.defined() || dim < 0 || dim >= tensor.dim() || tensor.size(dim) == 0) {
    refuse(std::string(what) + ": expected a tensor with at least one row in dimension " +
           std::to_string(dim) + " to cut, found " +
           (tensor.defined() ? describe(tensor) : "an undefined one"));
  }
  auto parts = tensor.chunk(static_cast<std::int64_t>(devices.size()), dim);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].to(devices[i]);
  return parts;
}

}  // namespace detail

void all_reduce(std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) refuse("functional::all_reduce: expected at least one tensor, found none");
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    if (describe(tensors[i]) == describe(tensors[0])) continue;
    refuse("functional::all_reduce: tensor " + std::to_string(i) + " is " + describe(tensors[i]) +
           ", the first one is " + describe(tensors[0]));
  }
  const at::NoGradGuard no_grad;
  for (std::size_t i = 1; i < tensors.size(); ++i)
    tensors[0].add_(tensors[i].to(tensors[0].device()));
  for (std::size_t i = 1; i < tensors.size(); ++i) tensors[i].copy_(tensors[0]);
}

std::vector<at::Tensor> distribute(const at::Tensor& tensor,
                                   const std::vector<c10::Device>& devices) {
  return detail::scatter("functional::distribute", tensor, devices, 0);
}

std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> split_batch(
    const at::Tensor& x, const at::Tensor& y, const std::vector<c10::Device>& devices) {
  const std::string what = "functional::split_batch";
  auto xs = detail::scatter(what.c_str(), x, devices, 0);
  auto ys = detail::scatter(what.c_str(), y, devices, 0);
  if (x.size(0) != y.size(0)) {
    refuse(what + ": expected as many targets as inputs, found " + std::to_string(y.size(0)) +
           " and " + std::to_string(x.size(0)));
  }
  return {std::move(xs), std::move(ys)};
}

std::vector<std::vector<at::Tensor>> broadcast_params(const std::vector<at::Tensor>& params,
                                                      const std::vector<c10::Device>& devices) {
  check_devices("functional::broadcast_params", devices);
  std::vector<std::vector<at::Tensor>> copies;
  for (const c10::Device& device : devices) {
    auto& own = copies.emplace_back();
    for (const at::Tensor& parameter : params) {
      own.push_back(parameter.detach().to(device, parameter.scalar_type(), false, true));
      own.back().requires_grad_(parameter.requires_grad());
    }
  }
  return copies;
}

}  // namespace ddp::functional
