#include "ddp/collectives.h"

#include "ddp/device.h"
#include "worker_sdk/src/collective_call.h"

namespace ddp {

using detail::as_real;
using detail::CollectiveCall;

namespace {

// Divides `tensor` by the number of ranks where the backend does not do it itself.
std::function<void()> division(const CollectiveCall& call, const detail::Reduction& reduction,
                               const at::Tensor& tensor) {
  if (!reduction.divide) return nullptr;
  return [tensor, size = call.group().size()] { tensor.div_(size); };
}

}  // namespace

Work all_reduce(const at::Tensor& tensor, ReduceOp op, const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "all_reduce");
  if (!call.is_member()) return {};
  call.check_output(tensor, "the tensor");
  const detail::Reduction reduction = call.reduction(op, tensor);
  return call.start(
      [&] {
        std::vector<at::Tensor> tensors{as_real(tensor)};
        c10d::AllreduceOptions options;
        options.reduceOp = reduction.op;
        return call.c10d().allreduce(tensors, options);
      },
      {tensor}, async_op, division(call, reduction, tensor));
}

Work reduce(const at::Tensor& tensor, int dst, ReduceOp op, const ProcessGroup& group,
            bool async_op) {
  const CollectiveCall call(group, "reduce");
  if (!call.is_member()) return {};
  const int root = call.index_of(dst);
  call.check_output(tensor, "the tensor");
  const detail::Reduction reduction = call.reduction(op, tensor);
  return call.start(
      [&] {
        std::vector<at::Tensor> tensors{as_real(tensor)};
        c10d::ReduceOptions options;
        options.reduceOp = reduction.op;
        options.rootRank = root;
        return call.c10d().reduce(tensors, options);
      },
      {tensor}, async_op, division(call, reduction, tensor));
}

Work broadcast(const at::Tensor& tensor, int src, const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "broadcast");
  if (!call.is_member()) return {};
  const int root = call.index_of(src);
  call.check_output(tensor, "the tensor");
  return call.start(
      [&] {
        std::vector<at::Tensor> tensors{as_real(tensor)};
        c10d::BroadcastOptions options;
        options.rootRank = root;
        return call.c10d().broadcast(tensors, options);
      },
      {tensor}, async_op);
}

Work barrier(const ProcessGroup& group, bool async_op) {
  const CollectiveCall call(group, "barrier");
  if (!call.is_member()) return {};
  return call.start(
      [&] {
        c10d::BarrierOptions options;
        // Otherwise NCCL guesses a GPU from the rank, and the guess is wrong where ranks skip GPUs.
        if (call.group().nccl) options.device_ids = {local_device().index()};
        return call.c10d().barrier(options);
      },
      {}, async_op);
}

}  // namespace ddp
