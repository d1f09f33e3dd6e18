// Collective operations on tensors. Every member of the group calls the same ones in the same
// order, with tensors of the same shape and type, on the CPU with Gloo and on the GPU with NCCL.
//
// Each blocks until the result is there; on CUDA, until later work of the current stream will see
// it. On a rank outside the group they do nothing but warn on stderr once, as in Python. They throw
// ddp::Error if a peer is lost, on a time-out, and for tensors that the backend refuses. They
// belong to the thread that trains, as the functions of process_group.h do.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "ddp/export.h"
#include "ddp/process_group.h"

namespace ddp {

// How all_reduce combines. AVG needs a floating type with Gloo; BAND, BOR and BXOR need integers.
// PyTorch: torch.distributed.ReduceOp.
enum class ReduceOp { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR };

// Combines `tensor` of all ranks, in place: the result is the same on each of them.
// PyTorch: torch.distributed.all_reduce.
DDP_API void all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::SUM,
                        const ProcessGroup& group = {});

// Overwrites `tensor` by that of the rank `src`, a global rank, which must belong to the group.
// PyTorch: torch.distributed.broadcast.
DDP_API void broadcast(const at::Tensor& tensor, int src, const ProcessGroup& group = {});

// The tensors of all ranks: element i is that of rank i of the group. Empty on a rank outside it.
// PyTorch: torch.distributed.all_gather, which fills a list instead of returning one.
DDP_API std::vector<at::Tensor> all_gather(const at::Tensor& tensor,
                                           const ProcessGroup& group = {});

// Returns when every rank of the group has called it; with NCCL, too, the CPU waits.
// PyTorch: torch.distributed.barrier.
DDP_API void barrier(const ProcessGroup& group = {});

}  // namespace ddp
