#include "worker_sdk/src/module_tensors.h"

#include <ATen/Functions.h>
#include <torch/nn/modules/embedding.h>

#include <algorithm>
#include <cstring>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <unordered_set>

#include "worker_sdk/src/gather_tensors.h"
#include "worker_sdk/src/model_signature.h"
#include "worker_sdk/src/translate.h"

namespace ddp::detail {
namespace {

bool makes_sparse_gradients(torch::nn::Module& module) {
  if (auto* embedding = module.as<torch::nn::Embedding>()) return embedding->options.sparse();
  if (auto* bag = module.as<torch::nn::EmbeddingBag>()) return bag->options.sparse();
  return false;
}

// Whether it is seen for the first time: LibTorch, other than Python, lists a shared tensor twice.
class OnlyOnce {
 public:
  bool operator()(const at::Tensor& tensor) {
    return seen_.insert(tensor.unsafeGetTensorImpl()).second;
  }

 private:
  std::unordered_set<const c10::TensorImpl*> seen_;
};

std::string form_of(const at::Tensor& tensor, bool frozen) {
  const std::string form = c10::str(tensor.scalar_type(), " ", tensor.sizes());
  if (frozen) return form + " (no gradient)";
  // A bucket holds gradients in the order of the parameter's memory; buffers are sent contiguous.
  return tensor.is_contiguous() ? form : c10::str(form, " with strides ", tensor.strides());
}

std::vector<TensorSignature> signature(const TrainableParameters& parameters,
                                       const NamedTensors& states) {
  std::vector<TensorSignature> lines;
  const std::unordered_set<std::string> trainable = [&] {
    std::unordered_set<std::string> names;
    for (const auto& [index, name] : parameters.names) names.insert(name);
    return names;
  }();
  for (std::size_t i = 0; i < states.tensors.size(); ++i) {
    const bool frozen = !trainable.contains(states.names[i]);
    lines.push_back({states.names[i], form_of(states.tensors[i], frozen)});
  }
  return lines;
}

// The tensor of each member, on the CPU.
std::vector<at::Tensor> gather(const GroupState& group, const at::Tensor& mine,
                               c10::Device device) {
  auto all = gather_tensors(group, mine.to(device));
  for (at::Tensor& each : all) each = each.cpu();
  return all;
}

std::vector<std::string> gather_texts(const GroupState& group, const std::string& mine,
                                      const std::vector<std::int64_t>& lengths,
                                      c10::Device device) {
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const at::Tensor bytes = at::zeros({std::max<std::int64_t>(longest, 1)}, at::kByte);
  std::memcpy(bytes.data_ptr(), mine.data(), mine.size());
  std::vector<std::string> texts;
  for (const at::Tensor& each : gather(group, bytes, device)) {
    texts.emplace_back(static_cast<const char*>(each.data_ptr()),
                       static_cast<std::size_t>(lengths[texts.size()]));
  }
  return texts;
}

void compare_signatures(const GroupState& group, const std::vector<TensorSignature>& mine,
                        c10::Device device) {
  const std::string text = encode(mine);
  const at::Tensor summary = at::empty({2}, at::kLong);
  summary[0] = fingerprint(mine);
  summary[1] = static_cast<std::int64_t>(text.size());
  std::vector<std::int64_t> lengths;
  bool same = true;
  for (const at::Tensor& each : gather(group, summary, device)) {
    same = same && each[0].item<std::int64_t>() == fingerprint(mine);
    lengths.push_back(each[1].item<std::int64_t>());
  }
  if (same) return;
  const auto difference = first_difference(gather_texts(group, text, lengths, device), group.ranks);
  throw Error(group.global_rank, "DistributedDataParallel: the models of the ranks differ: " +
                                     difference.value_or("their fingerprints do not agree"));
}

}  // namespace

TrainableParameters trainable_parameters(torch::nn::Module& module) {
  TrainableParameters result;
  OnlyOnce first_time;
  for (const auto& owner : module.named_modules("", /*include_self=*/true)) {
    const bool sparse = makes_sparse_gradients(*owner.value());
    for (const auto& parameter : owner.value()->named_parameters(/*recurse=*/false)) {
      if (!parameter->requires_grad() || !first_time(*parameter)) continue;
      const std::string& prefix = owner.key();
      result.names[result.tensors.size()] =
          prefix.empty() ? parameter.key() : prefix + "." + parameter.key();
      result.tensors.push_back(*parameter);
      result.expect_sparse.push_back(sparse);
    }
  }
  return result;
}

std::string first_sparse(const TrainableParameters& parameters) {
  const auto& sparse = parameters.expect_sparse;
  const auto found = std::find(sparse.begin(), sparse.end(), true);
  if (found == sparse.end()) return "";
  return parameters.names.at(static_cast<std::size_t>(found - sparse.begin()));
}

NamedTensors module_states(const torch::nn::Module& module, bool with_buffers) {
  NamedTensors result;
  OnlyOnce first_time;
  const auto append = [&](const auto& named) {
    for (const auto& each : named) {
      if (!first_time(*each)) continue;
      result.names.push_back(each.key());
      result.tensors.push_back(each->detach());
    }
  };
  append(module.named_parameters());
  if (with_buffers) append(module.named_buffers());
  return result;
}

torch::OrderedDict<std::string, at::Tensor> unique_parameters(const torch::nn::Module& module) {
  torch::OrderedDict<std::string, at::Tensor> result;
  OnlyOnce first_time;
  for (const auto& each : module.named_parameters()) {
    if (first_time(each.value())) result.insert(each.key(), each.value());
  }
  return result;
}

std::vector<at::Tensor> unique_buffers(torch::nn::Module& module) {
  std::vector<at::Tensor> result;
  OnlyOnce first_time;
  for (const at::Tensor& buffer : module.buffers()) {
    if (first_time(buffer)) result.push_back(buffer);
  }
  return result;
}

void verify_same_model(const GroupState& group, const TrainableParameters& parameters,
                       const NamedTensors& states) {
  translated(group.global_rank, "DistributedDataParallel: comparing the models of the ranks", [&] {
    if (group.only_sdk_ranks) {
      compare_signatures(group, signature(parameters, states), parameters.tensors[0].device());
    } else {
      c10d::verify_params_across_processes(group.group, parameters.tensors, std::nullopt);
    }
  });
}

}  // namespace ddp::detail
