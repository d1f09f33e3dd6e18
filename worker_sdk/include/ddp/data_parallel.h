// data_parallel: one process computes a batch on several devices, each with a replica of the module
// and a part of the batch. The form in which data parallelism was first taught; to train, use
// DistributedDataParallel, which is faster on every machine and works on several.
//
//   auto output = ddp::data_parallel(model, input, {at::Device("cuda:0"), at::Device("cuda:1")});
//   loss(output, target).backward();  // the gradients are in the parameters of `model`
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ddp/checkpoint.h"
#include "ddp/export.h"

namespace ddp {

namespace detail {

using ReplicaForward = std::function<at::Tensor(torch::nn::Module&, const at::Tensor&)>;

DDP_API at::Tensor data_parallel(torch::nn::Module& module, const ReplicaForward& forward,
                                 const at::Tensor& input, const std::vector<c10::Device>& devices,
                                 std::optional<c10::Device> output_device, std::int64_t dim);

}  // namespace detail

// Cuts `input` along `dim` (negative: from the end) into equal parts, one for each device (as
// torch::chunk does: the last may be smaller, and of fewer rows than devices only as many are
// used), copies the module to all devices but the first, computes the parts at the same time, a
// thread for each, and joins the outputs along `dim` on `output_device`, by default the first. With
// a sum over the batch as loss the gradients are those of the plain module; they are summed into
// its parameters by backward().
//
// Devices may repeat: {cpu, cpu} computes on two replicas and divides LibTorch's threads between
// them. The module must be on devices[0]. As in Python, its buffers change as the first replica
// changes them, and what other replicas do to theirs is lost; so BatchNorm sees parts of the batch.
// Copies are made anew in every call: they cost the memory of the module, and the time in which it
// makes its first weights (the generator of random numbers is put back).
//
// `module` is a holder of TORCH_MODULE or a shared_ptr whose forward takes a Tensor and returns
// one. With more than one device it must be a torch::nn::Cloneable, as all of LibTorch's own
// modules are. Throws ddp::Error: no devices, an empty batch, a module elsewhere, one that cannot
// be cloned; and what a replica's forward throws, or that its output is undefined, with its number
// and device. PyTorch: torch.nn.parallel.data_parallel; LibTorch's function of that name is for
// CUDA alone.
template <std::derived_from<torch::nn::Module> Module>
at::Tensor data_parallel(const std::shared_ptr<Module>& module, const at::Tensor& input,
                         const std::vector<c10::Device>& devices,
                         std::optional<c10::Device> output_device = std::nullopt,
                         std::int64_t dim = 0) {
  const auto forward = [](torch::nn::Module& replica, const at::Tensor& part) -> at::Tensor {
    return dynamic_cast<Module&>(replica).forward(part);
  };
  return detail::data_parallel(*module, forward, input, devices, output_device, dim);
}
template <ModuleHolder Holder>
at::Tensor data_parallel(const Holder& module, const at::Tensor& input,
                         const std::vector<c10::Device>& devices,
                         std::optional<c10::Device> output_device = std::nullopt,
                         std::int64_t dim = 0) {
  return data_parallel(module.ptr(), input, devices, output_device, dim);
}

}  // namespace ddp
