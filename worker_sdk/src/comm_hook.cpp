#include "ddp/comm_hook.h"

#include <ATen/Functions.h>

#include <sstream>
#include <utility>

#include "worker_sdk/src/comm_hook_adapter.h"
#include "worker_sdk/src/future_state.h"
#include "worker_sdk/src/text.h"
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

std::string kind_of(const at::Tensor& tensor) {
  std::ostringstream text;
  text << (tensor.layout() == at::kStrided ? "" : "sparse ") << c10::toString(tensor.scalar_type())
       << " on " << tensor.device();
  return text.str();
}

// What does not fit in what a hook returned for `bucket`; empty if it all does.
std::string problem_with(const at::Tensor& result, const at::Tensor& bucket, std::size_t index) {
  const std::string place = " for bucket " + std::to_string(index);
  if (!result.defined()) {
    return "an undefined tensor" + place + ", whose size is " + size_of(bucket);
  }
  if (result.sizes() != bucket.sizes()) {
    return "a tensor of size " + size_of(result) + place + ", whose size is " + size_of(bucket);
  }
  if (kind_of(result) == kind_of(bucket)) return "";
  return "a tensor of " + kind_of(result) + place + "; return one of " + kind_of(bucket) +
         ", as buffer() is";
}

// The Reducer takes the place of each gradient to be one in the storage, from its beginning.
at::Tensor at_the_beginning(const at::Tensor& result) {
  if (result.layout() != at::kStrided) return result;
  if (result.storage_offset() == 0 && result.is_contiguous()) return result;
  return result.clone(at::MemoryFormat::Contiguous);
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
    const std::string problem = problem_with(result, before, index);
    if (problem.empty()) return at_the_beginning(result);
    throw Error(rank, "the communication hook " + name + " returned " + problem);
  };
  const Future result = hook_(bucket).then(check);
  return limits_.limited(result.state()->future, too_late(bucket.index()));
}

std::exception_ptr CommHookAdapter::too_late(std::size_t index) const {
  const GroupState& group = *group_.state();
  return std::make_exception_ptr(Error(
      group.global_rank, "the communication hook " + name_ +
                             " did not complete its future for bucket " + std::to_string(index) +
                             " within the time-out of the group, " + seconds(group.timeout) +
                             ": each future needs a set_result or a set_exception"));
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
