#include "ddp/collectives.h"
#include "worker_sdk/src/collective_call.h"

namespace ddp {

using detail::as_real;
using detail::CollectiveCall;

namespace {

int peer(CollectiveCall& call, int global_rank) {
  const int index = call.index_of(global_rank);
  if (index == call.group().rank) {
    call.refuse("rank " + std::to_string(global_rank) + " is this rank itself");
  }
  call.waits_for(global_rank);
  return index;
}

}  // namespace

Work isend(const at::Tensor& tensor, int dst, const ProcessGroup& group, int tag) {
  CollectiveCall call(group, "send");
  if (!call.is_member()) return {};
  const int index = peer(call, dst);
  // Not copied where it is not contiguous: the copy would have to live as long as the Work.
  if (tensor.defined() && !tensor.is_contiguous()) {
    call.refuse("the tensor is not contiguous; send tensor.contiguous(), and keep it until then");
  }
  call.check_output(tensor, "the tensor", /*typed=*/false);
  if (call.is_on_gloo(tensor)) call.waits_only_as_a_whole();
  return call.start(
      [&] {
        std::vector<at::Tensor> tensors{as_real(tensor)};
        return call.c10d().send(tensors, index, tag);
      },
      {tensor}, /*async_op=*/true);
}

Work irecv(const at::Tensor& tensor, std::optional<int> src, const ProcessGroup& group, int tag) {
  CollectiveCall call(group, "recv");
  if (!call.is_member()) return {};
  const int index = src ? peer(call, *src) : -1;
  call.check_output(tensor, "the tensor", /*typed=*/false);
  if (call.is_on_gloo(tensor)) call.waits_only_as_a_whole();
  if (!src && !call.is_on_gloo(tensor)) call.refuse("from any rank exists with Gloo only");
  return call.start(
      [&] {
        std::vector<at::Tensor> tensors{as_real(tensor)};
        return src ? call.c10d().recv(tensors, index, tag)
                   : call.c10d().recvAnysource(tensors, tag);
      },
      {tensor}, /*async_op=*/true);
}

void send(const at::Tensor& tensor, int dst, const ProcessGroup& group, int tag) {
  isend(tensor, dst, group, tag).wait();
}

int recv(const at::Tensor& tensor, std::optional<int> src, const ProcessGroup& group, int tag) {
  Work work = irecv(tensor, src, group, tag);
  work.wait();
  // Only Gloo knows the source, and elsewhere it was given.
  return src && ProcessGroup(group).is_member() ? *src : work.source_rank();
}

}  // namespace ddp
