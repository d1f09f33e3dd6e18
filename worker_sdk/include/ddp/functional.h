// The pieces of data parallelism written by hand: one process, a copy of the parameters on each
// device, and the gradients added up after each step. For teaching and for comparison; no process
// group is needed. Devices may repeat, also {cpu, cpu}.
//
//   auto copies = ddp::functional::broadcast_params(params, devices);
//   auto [xs, ys] = ddp::functional::split_batch(x, y, devices);
//   for (size_t k = 0; k < xs.size(); ++k) loss(forward(xs[k], copies[k]), ys[k]).backward();
//   ddp::functional::all_reduce(gradients_of_one_parameter);  // one tensor for each device
//
// Errors are ddp::Error.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "ddp/export.h"

namespace ddp::functional {

// Replaces each of the tensors by the sum of all, in place: they have one shape and type, each on
// its own device. The sum is made on the first one's device, in the order of the list. Recorded for
// no gradient. Throws if the list is empty or the tensors differ.
// PyTorch: torch.cuda.comm.reduce_add, and a copy back to each device.
DDP_API void all_reduce(std::vector<at::Tensor>& tensors);

// Cuts a tensor along its first dimension into equal parts and puts each on its device. As
// torch::chunk: the last may be smaller, and of fewer rows than devices there are fewer parts.
// Gradients flow back through it. Throws for no devices and for a tensor without rows.
// PyTorch: torch.nn.parallel.scatter.
DDP_API std::vector<at::Tensor> distribute(const at::Tensor& tensor,
                                           const std::vector<c10::Device>& devices);

// The same for inputs and targets of one batch: first and second, of as many parts. Throws also if
// they have different numbers of rows.
DDP_API std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> split_batch(
    const at::Tensor& x, const at::Tensor& y, const std::vector<c10::Device>& devices);

// Copies of the parameters, one list for each device: leaves that need a gradient where the
// original does, and share no memory with it. Throws for no devices.
// PyTorch: torch.cuda.comm.broadcast for each of them, detached.
DDP_API std::vector<std::vector<at::Tensor>> broadcast_params(
    const std::vector<at::Tensor>& params, const std::vector<c10::Device>& devices);

namespace detail {

// `what` names the caller in the text of errors.
std::vector<at::Tensor> scatter(const char* what, const at::Tensor& tensor,
                                const std::vector<c10::Device>& devices, std::int64_t dim);

// "cuda" means any GPU here: which one is current does not matter.
bool same_device(const c10::Device& one, const c10::Device& other);

}  // namespace detail

}  // namespace ddp::functional
