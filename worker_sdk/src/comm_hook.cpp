#include "ddp/comm_hook.h"

#include <ATen/Functions.h>

#include <sstream>
#include <utility>

#include "worker_sdk/src/comm_hook_adapter.h"
#include "worker_sdk/src/future_state.h"
#include "worker_sdk/src/translate.h"

namespace ddp {
namespace {

// The sum over all ranks, in place.
Future sum(const at::Tensor& tensor, const ProcessGroup& group) {
  std::vector<at::Tensor> tensors{tensor};
  auto future = group.state()->group->allreduce(tensors)->getFuture()->then(
      [](c10::ivalue::Future& done) { return c10::IValue(done.value().toTensorVector()[0]); },
      c10::TensorType::get());
  return Future(std::make_shared<detail::FutureState>(detail::FutureState{std::move(future)}));
}

void refuse_sparse(const GradBucket& bucket, const char* hook) {
  if (bucket.buffer().layout() == at::kStrided) return;
  throw Error(bucket.process_group().state()->global_rank,
              std::string(hook) +
                  " does not work for sparse gradients; use an embedding without sparse(true), "
                  "allreduce_hook or no hook");
}

Future compress(GradBucket& bucket, at::ScalarType type, const char* hook) {
  refuse_sparse(bucket, hook);
  const ProcessGroup& group = bucket.process_group();
  const at::Tensor buffer = bucket.buffer();
  return sum(buffer.to(type).div_(group.size()), group).then([buffer](const at::Tensor& sum) {
    return buffer.copy_(sum);
  });
}

CommHook compress_around(CommHook hook, at::ScalarType type, const char* name) {
  return [hook = std::move(hook), type, name](GradBucket& bucket) {
    refuse_sparse(bucket, name);
    const at::Tensor buffer = bucket.buffer();
    bucket.set_buffer(buffer.to(type));
    return hook(bucket).then([buffer](const at::Tensor& result) { return buffer.copy_(result); });
  };
}

std::string size_of(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

}  // namespace

std::size_t GradBucket::index() const {
  return state_->bucket.getIndex();
}

bool GradBucket::is_last() const {
  return state_->bucket.isLast();
}

at::Tensor GradBucket::buffer() const {
  return state_->bucket.getBuffer();
}

void GradBucket::set_buffer(const at::Tensor& buffer) {
  state_->bucket.getBufferRef() = buffer;
}

std::vector<at::Tensor> GradBucket::gradients() const {
  // c10d would look for places in the buffer that only a dense one has.
  if (buffer().layout() != at::kStrided) return {buffer()};
  return state_->bucket.getGradients();
}

std::vector<at::Tensor> GradBucket::parameters() const {
  return state_->bucket.getParameters();
}

const ProcessGroup& GradBucket::process_group() const {
  return state_->group;
}

Future allreduce_hook(GradBucket& bucket) {
  const ProcessGroup& group = bucket.process_group();
  return sum(bucket.buffer().div_(group.size()), group);
}

Future fp16_compress_hook(GradBucket& bucket) {
  return compress(bucket, at::kHalf, "fp16_compress_hook");
}

Future bf16_compress_hook(GradBucket& bucket) {
  return compress(bucket, at::kBFloat16, "bf16_compress_hook");
}

CommHook fp16_compress_wrapper(CommHook hook) {
  return compress_around(std::move(hook), at::kHalf, "fp16_compress_wrapper");
}

CommHook bf16_compress_wrapper(CommHook hook) {
  return compress_around(std::move(hook), at::kBFloat16, "bf16_compress_wrapper");
}

namespace detail {

c10::intrusive_ptr<c10::ivalue::Future> CommHookAdapter::runHook(c10d::GradBucket& c10d_bucket) {
  GradBucket bucket(std::make_shared<BucketState>(BucketState{c10d_bucket, group_}));
  const at::Tensor before = bucket.buffer();
  const auto check = [name = name_, rank = group_.state()->global_rank, index = bucket.index(),
                      before](const at::Tensor& result) {
    if (result.defined() && result.sizes() == before.sizes()) return result;
    throw Error(rank, "the communication hook " + name + " returned " +
                          (result.defined() ? "a tensor of size " + size_of(result)
                                            : std::string("an undefined tensor")) +
                          " for bucket " + std::to_string(index) + ", whose size is " +
                          size_of(before));
  };
  return hook_(bucket).then(check).state()->future;
}

std::string name_of(const CommHook& hook) {
  using Function = Future (*)(GradBucket&);
  const Function* function = hook.target<Function>();
  if (function && *function == allreduce_hook) return "allreduce_hook";
  if (function && *function == fp16_compress_hook) return "fp16_compress_hook";
  if (function && *function == bf16_compress_hook) return "bf16_compress_hook";
  return "comm_hook";
}

}  // namespace detail
}  // namespace ddp
