// Collective operations on tensors. Every member of the group calls the same ones in the same
// order, with tensors of the same shape and type, on the CPU with Gloo and on the GPU with NCCL.
//
// Each blocks until the result is there; on CUDA, until later work of the current stream will see
// it. With `async_op` it returns at once, and the result is there after Work::wait().
//
// On a rank outside the group they do nothing but warn on stderr once, as in Python. `src` and
// `dst` are global ranks, which must belong to the group. Tensors that are written to must be
// contiguous. They throw ddp::Error, with the rank and the operation's name in the text: before
// anything is sent, for arguments that do not fit (a rank outside the group, a list of another
// length, shapes, types, a device that the backend does not serve, 16-bit integers on Gloo); and if
// a peer is lost, on a time-out, and for what the backend refuses. Gloo does not notice if the
// ranks pass different shapes. All belong to the thread that trains, as the functions of
// process_group.h do.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ddp/export.h"
#include "ddp/process_group.h"
#include "ddp/reduce_op.h"
#include "ddp/work.h"

namespace ddp {

// Combines `tensor` of all ranks, in place: the result is the same on each of them.
// PyTorch: torch.distributed.all_reduce.
DDP_API Work all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::SUM,
                        const ProcessGroup& group = {}, bool async_op = false);

// The same, but only `dst` has the result; what `tensor` holds on the other ranks is not defined.
// PyTorch: torch.distributed.reduce.
DDP_API Work reduce(const at::Tensor& tensor, int dst, ReduceOp op = ReduceOp::SUM,
                    const ProcessGroup& group = {}, bool async_op = false);

// Overwrites `tensor` by that of the rank `src`.
// PyTorch: torch.distributed.broadcast.
DDP_API Work broadcast(const at::Tensor& tensor, int src, const ProcessGroup& group = {},
                       bool async_op = false);

// The tensors of all ranks: element i is that of rank i of the group. Empty on a rank outside it.
// PyTorch: torch.distributed.all_gather, which fills a list instead of returning one.
DDP_API std::vector<at::Tensor> all_gather(const at::Tensor& tensor,
                                           const ProcessGroup& group = {});

// The same into `outputs`, one tensor of the shape and type of `tensor` for each rank. An empty
// list is filled with new ones.
DDP_API Work all_gather(std::vector<at::Tensor>& outputs, const at::Tensor& tensor,
                        const ProcessGroup& group = {}, bool async_op = false);

// The same into one tensor with as many elements as all inputs together: [size * n, …] or
// [size, n, …] for inputs of shape [n, …].
// PyTorch: torch.distributed.all_gather_into_tensor.
DDP_API Work all_gather_into_tensor(const at::Tensor& output, const at::Tensor& input,
                                    const ProcessGroup& group = {}, bool async_op = false);

// The tensors of all ranks on `dst`; empty on the others.
// PyTorch: torch.distributed.gather, which fills a list instead of returning one.
DDP_API std::vector<at::Tensor> gather(const at::Tensor& tensor, int dst = 0,
                                       const ProcessGroup& group = {});

// The same into `outputs`, which on `dst` is like that of all_gather and elsewhere must be empty.
DDP_API Work gather(std::vector<at::Tensor>& outputs, const at::Tensor& tensor, int dst = 0,
                    const ProcessGroup& group = {}, bool async_op = false);

// Element i of `inputs` on `src` goes into `output` of rank i of the group. `inputs` has one tensor
// of the shape and type of `output` for each rank; on other ranks than `src` it must be empty.
// PyTorch: torch.distributed.scatter.
DDP_API Work scatter(const at::Tensor& output, const std::vector<at::Tensor>& inputs, int src = 0,
                     const ProcessGroup& group = {}, bool async_op = false);

// Combines element i of `inputs` of all ranks into `output` of rank i of the group. `inputs` has
// one tensor of the shape and type of `output` for each rank.
// PyTorch: torch.distributed.reduce_scatter.
DDP_API Work reduce_scatter(const at::Tensor& output, const std::vector<at::Tensor>& inputs,
                            ReduceOp op = ReduceOp::SUM, const ProcessGroup& group = {},
                            bool async_op = false);

// The same where `input` holds the elements behind each other: [size * n, …] or [size, n, …] for
// an output of shape [n, …].
// PyTorch: torch.distributed.reduce_scatter_tensor.
DDP_API Work reduce_scatter_tensor(const at::Tensor& output, const at::Tensor& input,
                                   ReduceOp op = ReduceOp::SUM, const ProcessGroup& group = {},
                                   bool async_op = false);

// Element i of `inputs` goes to rank i of the group, and element i of `outputs` comes from there.
// The shapes may differ; what i sends to j must have the size that j expects from i.
// PyTorch: torch.distributed.all_to_all.
DDP_API Work all_to_all(const std::vector<at::Tensor>& outputs,
                        const std::vector<at::Tensor>& inputs, const ProcessGroup& group = {},
                        bool async_op = false);

// The same with parts of one tensor, cut along the first dimension: as many rows as the lists say,
// one number for each rank, or equal parts if they are empty.
// PyTorch: torch.distributed.all_to_all_single.
DDP_API Work all_to_all_single(const at::Tensor& output, const at::Tensor& input,
                               const std::vector<std::int64_t>& output_split_sizes = {},
                               const std::vector<std::int64_t>& input_split_sizes = {},
                               const ProcessGroup& group = {}, bool async_op = false);

// Sends `tensor` to `dst`, which receives it with the same `tag`; NCCL has no tags. Returns when
// `tensor` may be changed. Throws if `dst` is this rank itself.
// PyTorch: torch.distributed.send.
DDP_API void send(const at::Tensor& tensor, int dst, const ProcessGroup& group = {}, int tag = 0);

// Receives into `tensor`, from any rank if there is no `src` (Gloo only). Returns the global rank
// that sent, -1 on a rank outside the group.
// PyTorch: torch.distributed.recv.
DDP_API int recv(const at::Tensor& tensor, std::optional<int> src = std::nullopt,
                 const ProcessGroup& group = {}, int tag = 0);

// The same without waiting. PyTorch: torch.distributed.isend and irecv.
DDP_API Work isend(const at::Tensor& tensor, int dst, const ProcessGroup& group = {}, int tag = 0);
DDP_API Work irecv(const at::Tensor& tensor, std::optional<int> src = std::nullopt,
                   const ProcessGroup& group = {}, int tag = 0);

// Returns when every rank of the group has called it; with NCCL, too, the CPU waits unless
// `async_op`.
// PyTorch: torch.distributed.barrier.
DDP_API Work barrier(const ProcessGroup& group = {}, bool async_op = false);

// A barrier that says which ranks did not come within `timeout` (default: the group's), on every
// rank that came. Gloo only, and slow: rank 0 of the group asks the others one by one. Where ranks
// are Python's, the others learn only that rank 0 did not answer.
// PyTorch: torch.distributed.monitored_barrier(wait_all_ranks=True), which tells rank 0 alone.
DDP_API void monitored_barrier(const ProcessGroup& group = {},
                               std::optional<std::chrono::milliseconds> timeout = std::nullopt);

// The text of rank `src`, on every rank; `text` of the others is not looked at. For small texts,
// any bytes. Empty on a rank outside the group.
// PyTorch: torch.distributed.broadcast_object_list.
DDP_API std::string broadcast_string(const std::string& text, int src,
                                     const ProcessGroup& group = {});

// The texts of all ranks: element i is that of rank i of the group. Empty on a rank outside it.
// PyTorch: torch.distributed.all_gather_object.
DDP_API std::vector<std::string> all_gather_string(const std::string& text,
                                                   const ProcessGroup& group = {});

}  // namespace ddp
