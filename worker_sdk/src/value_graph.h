// Values with tensors <-> the plain trees that pickles hold.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "ddp/value.h"
#include "worker_sdk/src/checkpoint/archive.h"

namespace ddp::detail {

// A value taken apart: element i of `storages` holds the bytes of the storage with the key i.
struct TakenApart {
  PickleGraph graph;
  std::vector<at::Tensor> storages;  // one tensor of each storage, which keeps it alive
  std::vector<std::uint64_t> sizes;  // bytes of each
};

// Throws BadFile that names the place of what cannot be saved, as in ['model']['fc1.weight'].
TakenApart take_apart(const Value& value);

// The bytes of the tensor's whole storage, on the CPU.
at::Tensor storage_on_cpu(const at::Tensor& tensor);

// Throws BadFile, or what LibTorch throws.
Value put_together(const ArchiveReader& archive, c10::Device device);

// A tensor of another type over the memory of a tensor of bytes.
at::Tensor tensor_over(const at::Tensor& bytes_on_device, DType type, std::int64_t offset,
                       c10::IntArrayRef sizes, c10::IntArrayRef strides);

// Makes each byte 0 or 1: other values of a bool are undefined behaviour.
void make_bools(const at::Tensor& bytes);

}  // namespace ddp::detail
