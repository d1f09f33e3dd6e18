#include <ATen/ops/batch_norm_native.h>
#include <torch/library.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "ddp/sync_batch_norm.h"
#include "worker_sdk/src/checkpoint_file.h"
#include "worker_sdk/src/sync_batch_norm.h"

namespace ddp {
namespace detail {
namespace {

using OptionalTensor = std::optional<at::Tensor>;

// A layer that was converted. It is known by a tensor that it passes to aten::batch_norm, and whose
// identity survives everything but clone().
struct Mark {
  std::weak_ptr<torch::nn::Module> module;
  c10::weak_intrusive_ptr<c10::TensorImpl> tensor;  // keeps the address from being used again
  ProcessGroup group;
};

class Marks {
 public:
  void set(const at::Tensor& tensor, Mark mark) {
    const std::lock_guard lock(mutex_);
    std::erase_if(marks_, [](const auto& each) { return each.second.tensor.expired(); });
    marks_.insert_or_assign(tensor.unsafeGetTensorImpl(), std::move(mark));
  }

  std::optional<Mark> find(const at::Tensor& tensor) {
    const std::lock_guard lock(mutex_);
    const auto found = marks_.find(tensor.unsafeGetTensorImpl());
    if (found == marks_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const c10::TensorImpl*, Mark> marks_;
};

// Never destroyed: a batch norm may run while the process ends.
Marks& marks() {
  static Marks& forever = *new Marks;
  return forever;
}

at::Tensor value(const OptionalTensor& tensor) {
  return tensor.value_or(at::Tensor());
}

// Weight before running mean: both belong to one layer, and with neither there is no mark.
std::optional<Mark> find_mark(const OptionalTensor& weight, const OptionalTensor& running_mean) {
  for (const OptionalTensor* each : {&weight, &running_mean}) {
    if (!each->has_value() || !(*each)->defined()) continue;
    if (auto mark = marks().find(**each)) return mark;
  }
  return std::nullopt;
}

std::shared_ptr<GroupState> group_of_call(const OptionalTensor& weight,
                                          const OptionalTensor& running_mean, bool training) {
  if (!training) return nullptr;
  const std::optional<Mark> mark = find_mark(weight, running_mean);
  const auto module = mark ? mark->module.lock() : nullptr;
  // Without running statistics it takes those of the batch in eval mode as well, of its own one.
  return module && module->is_training() ? group_to_sync(mark->group) : nullptr;
}

at::Tensor batch_norm(const at::Tensor& input, const OptionalTensor& weight,
                      const OptionalTensor& bias, const OptionalTensor& running_mean,
                      const OptionalTensor& running_var, bool training, double momentum, double eps,
                      bool cudnn_enabled) {
  const auto group = group_of_call(weight, running_mean, training);
  if (!group) {  // what would have run without us
    return at::native::batch_norm(input, weight, bias, running_mean, running_var, training,
                                  momentum, eps, cudnn_enabled);
  }
  return sync_batch_norm(group, {input, value(weight), value(bias), value(running_mean),
                                 value(running_var), momentum, eps});
}

// Only once somebody has converted a module: until then nothing is different at all.
void override_batch_norm() {
  static const auto& libraries = *new std::vector<torch::Library>([] {
    std::vector<torch::Library> made;
    // The backends' own keys are for inference mode, in which the others are left out.
    for (const auto key : {c10::DispatchKey::AutogradCPU, c10::DispatchKey::AutogradCUDA,
                           c10::DispatchKey::CPU, c10::DispatchKey::CUDA}) {
      made.emplace_back(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
      made.back().impl("batch_norm", batch_norm);
    }
    return made;
  }());
  (void)libraries;
}

std::shared_ptr<torch::nn::Module> owner_of(torch::nn::Module& module) {
  try {
    return module.shared_from_this();
  } catch (const std::bad_weak_ptr&) {
    throw Error(rank_for_messages(),
                "convert_sync_batchnorm: the module is itself a batch norm and must be held by a "
                "shared_ptr or a holder");
  }
}

struct NewMark {
  at::Tensor tensor;
  Mark mark;
};

// Null for another kind of layer.
template <class BatchNorm>
std::optional<NewMark> mark_if(torch::nn::Module& module, const std::string& name,
                               const ProcessGroup& group) {
  const auto* layer = module.as<BatchNorm>();
  if (!layer) return std::nullopt;
  const at::Tensor tensor = layer->weight.defined() ? layer->weight : layer->running_mean;
  if (!tensor.defined()) {
    throw Error(rank_for_messages(),
                "convert_sync_batchnorm: " + (name.empty() ? std::string("the module") : name) +
                    " has neither weights nor running statistics by which it could be known; use "
                    "ddp::SyncBatchNorm there");
  }
  return NewMark{tensor,
                 {owner_of(module),
                  c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), group}};
}

std::optional<NewMark> mark_of(torch::nn::Module& module, const std::string& name,
                               const ProcessGroup& group) {
  if (auto mark = mark_if<torch::nn::BatchNorm1dImpl>(module, name, group)) return mark;
  if (auto mark = mark_if<torch::nn::BatchNorm2dImpl>(module, name, group)) return mark;
  return mark_if<torch::nn::BatchNorm3dImpl>(module, name, group);
}

bool is_marked(torch::nn::Module& module) {
  const auto known = [](const auto* layer) {
    return layer && find_mark(layer->weight, layer->running_mean).has_value();
  };
  return module.as<SyncBatchNormImpl>() || known(module.as<torch::nn::BatchNorm1dImpl>()) ||
         known(module.as<torch::nn::BatchNorm2dImpl>()) ||
         known(module.as<torch::nn::BatchNorm3dImpl>());
}

}  // namespace

bool has_sync_batch_norm(torch::nn::Module& module) {
  if (is_marked(module)) return true;
  const auto below = module.modules(/*include_self=*/false);
  return std::any_of(below.begin(), below.end(), [](const auto& each) { return is_marked(*each); });
}

}  // namespace detail

void convert_sync_batchnorm(torch::nn::Module& module, const ProcessGroup& group) {
  // All of them first, so that a refusal leaves the module as it was.
  std::vector<detail::NewMark> found;
  const auto look_at = [&](torch::nn::Module& layer, const std::string& name) {
    if (auto mark = detail::mark_of(layer, name, group)) found.push_back(std::move(*mark));
  };
  look_at(module, "");
  for (const auto& each : module.named_modules("", /*include_self=*/false)) {
    look_at(*each.value(), each.key());
  }
  for (auto& [tensor, mark] : found) detail::marks().set(tensor, std::move(mark));
  if (!found.empty()) detail::override_batch_norm();
}

SyncBatchNormImpl::SyncBatchNormImpl(const torch::nn::BatchNormOptions& how, ProcessGroup group)
    : NormImplBase(how), group_(std::move(group)) {}

void SyncBatchNormImpl::_check_input_dim(const at::Tensor& input) {
  if (input.dim() >= 2) return;
  throw Error(detail::rank_for_messages(), "SyncBatchNorm: expected at least 2D input (got " +
                                               std::to_string(input.dim()) + "D input)");
}

at::Tensor SyncBatchNormImpl::forward(const at::Tensor& input) {
  _check_input_dim(input);
  double momentum = options.momentum().value_or(0.0);
  if (is_training() && options.track_running_stats()) {
    num_batches_tracked += 1;
    if (!options.momentum()) momentum = 1.0 / num_batches_tracked.item<double>();
  }
  const auto group = is_training() ? detail::group_to_sync(group_) : nullptr;
  if (group) {
    return detail::sync_batch_norm(
        group, {input, weight, bias, running_mean, running_var, momentum, options.eps()});
  }
  return torch::nn::functional::detail::batch_norm(input, running_mean, running_var, weight, bias,
                                                   is_training() || !options.track_running_stats(),
                                                   momentum, options.eps());
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "ddp::SyncBatchNorm(" << options.num_features()
         << ", eps=" << options.eps() << ", affine=" << options.affine()
         << ", track_running_stats=" << options.track_running_stats() << ")";
}

}  // namespace ddp
