#include "worker_sdk/src/sync_batch_norm.h"

#include <ATen/AccumulateType.h>
#include <ATen/Functions.h>
#include <torch/csrc/autograd/custom_function.h>

#include <numeric>

#include "worker_sdk/src/compat.h"
#include "worker_sdk/src/gather_tensors.h"
#include "worker_sdk/src/translate.h"

namespace ddp::detail {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kName = "SyncBatchNorm";

// What all ranks know after the exchange. The counts, one for each rank that had a batch, are those
// of values per channel.
struct JoinedStatistics {
  at::Tensor mean, invstd, counts;
};

std::vector<std::int64_t> all_but_channels(const at::Tensor& input) {
  std::vector<std::int64_t> dimensions(static_cast<std::size_t>(input.dim()));
  std::iota(dimensions.begin(), dimensions.end(), 0);
  dimensions.erase(dimensions.begin() + 1);
  return dimensions;
}

// A value for each channel, in the shape that goes with the input.
at::Tensor per_channel(const at::Tensor& values, const at::Tensor& input) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[1] = -1;
  return values.to(input.scalar_type()).view(shape);
}

std::int64_t values_per_channel(const at::Tensor& input) {
  return input.numel() / input.size(1);
}

// Types of less than 32 bits are summed up as 32-bit ones.
at::Tensor wide(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? tensor : tensor.to(at::kFloat);
}

// Of what the kernels for GPUs add up, which a rank with an empty batch must send as well.
at::TensorOptions sums_on_cuda(const at::Tensor& input) {
  return input.options().dtype(at::toAccumulateType(input.scalar_type(), /*is_cuda=*/true));
}

template <class Action>
auto translated_of(const GroupState& group, Action&& action) {
  return translated(group.global_rank, kName, std::forward<Action>(action), explainer(group.peers));
}

// One row for each rank.
at::Tensor gather_rows(const GroupState& group, const at::Tensor& mine) {
  if (mine.is_cuda() && group.nccl) {
    at::Tensor all = at::empty({group.size() * mine.numel()}, mine.options()), part = mine;
    compat::all_gather_single(*group.group, all, part)->wait();
    return all.view({group.size(), -1});
  }
  return at::stack(gather_tensors(group, mine));
}

// The rows without those of ranks that had no batch. Throws where there is nothing to normalize by;
// all ranks see the same rows and so agree.
at::Tensor rows_with_values(const GroupState& group, const at::Tensor& rows,
                            const at::Tensor& counts) {
  const double total = counts.sum().item<double>();
  if (total == 1) {
    throw Error(group.global_rank, std::string(kName) +
                                       ": expected more than 1 value per channel when training, "
                                       "and there is 1 over all ranks");
  }
  return rows.index_select(0, at::nonzero(counts.ge(1)).squeeze(1));
}

void update_running(const at::Tensor& running, const at::Tensor& now, double momentum) {
  if (running.defined()) running.mul_(1 - momentum).add_(now.to(running.scalar_type()), momentum);
}

// In double, as the few numbers cost nothing: means and variances of parts become those of the
// whole.
JoinedStatistics join_on_cpu(const GroupState& group, const BatchNormArguments& a) {
  const std::int64_t channels = a.input.size(1), count = values_per_channel(a.input);
  const at::Tensor mine = at::zeros({2 * channels + 1}, at::kDouble);
  if (count > 0) {
    const auto [variance, mean] =
        at::var_mean(wide(a.input), all_but_channels(a.input), /*unbiased=*/false);
    mine.slice(0, 0, channels).copy_(mean);
    mine.slice(0, channels, 2 * channels).copy_(variance);
    mine[2 * channels] = static_cast<double>(count);
  }
  const at::Tensor all = gather_rows(group, mine);
  const at::Tensor rows = rows_with_values(group, all, all.select(1, 2 * channels));
  const at::Tensor counts = rows.slice(1, 2 * channels), total = counts.sum();
  if (rows.size(0) == 0) return {};
  const at::Tensor means = rows.slice(1, 0, channels),
                   variances = rows.slice(1, channels, 2 * channels);
  const at::Tensor mean = (means * counts).sum(0) / total;
  const at::Tensor variance = ((variances + (means - mean).square()) * counts).sum(0) / total;
  update_running(a.running_mean, mean, a.momentum);
  update_running(a.running_var, variance * total / (total - 1), a.momentum);
  return {mean, (variance + a.eps).rsqrt(), counts};
}

// Python's steps, so that Python ranks may take part.
JoinedStatistics join_on_cuda(const GroupState& group, const BatchNormArguments& a) {
  const std::int64_t channels = a.input.size(1), count = values_per_channel(a.input);
  at::Tensor mine = at::zeros({2 * channels + 1}, sums_on_cuda(a.input));
  if (count > 0) {
    const auto [mean, invstd] = at::batch_norm_stats(a.input, a.eps);
    mine = at::cat({mean, invstd, at::full({1}, count, mean.options())});
  }
  const at::Tensor all = gather_rows(group, mine);
  const at::Tensor rows = rows_with_values(group, all, all.select(1, 2 * channels));
  if (rows.size(0) == 0) return {};
  const at::Tensor counts = rows.select(1, 2 * channels).contiguous();
  const auto [mean, invstd] = at::batch_norm_gather_stats_with_counts(
      a.input, rows.slice(1, 0, channels).contiguous(),
      rows.slice(1, channels, 2 * channels).contiguous(), a.running_mean, a.running_var, a.momentum,
      a.eps, a.running_mean.defined() ? counts.to(a.running_mean.scalar_type()) : counts);
  return {mean, invstd, counts};
}

at::Tensor normalize(const BatchNormArguments& a, const JoinedStatistics& joined) {
  if (a.input.numel() == 0) return at::empty_like(a.input);
  if (a.input.is_cuda()) {
    return at::batch_norm_elemt(a.input, a.weight, a.bias, joined.mean, joined.invstd, a.eps);
  }
  // LibTorch's own kernel for given statistics, which are of the weight's type.
  const auto type = a.weight.defined() ? a.weight.scalar_type() : wide(a.input).scalar_type();
  const at::Tensor variance = joined.invstd.square().reciprocal() - a.eps;
  return std::get<0>(at::native_batch_norm(a.input, a.weight, a.bias, joined.mean.to(type),
                                           variance.to(type), /*training=*/false, 0, a.eps));
}

// The sums over this rank's batch that the gradients are made of.
struct GradientSums {
  at::Tensor dy, dy_xmu;    // for each channel: of dy, and of dy times (x - mean)
  at::Tensor weight, bias;  // the gradients of these
};

struct Saved {
  at::Tensor input, weight, mean, invstd, counts;
};

GradientSums sum_up(const at::Tensor& gradient, const Saved& s, bool for_input, bool for_weight,
                    bool for_bias) {
  if (gradient.is_cuda()) {
    const auto [dy, dy_xmu, weight, bias] = at::batch_norm_backward_reduce(
        gradient, s.input, s.mean, s.invstd, s.weight, for_input, for_weight, for_bias);
    return {dy, dy_xmu, weight, bias};
  }
  const at::Tensor x = wide(s.input), dy = wide(gradient);
  const auto dimensions = all_but_channels(x);
  const at::Tensor sum_dy = dy.sum(dimensions);
  const at::Tensor sum_dy_xmu = (dy * (x - per_channel(s.mean, x))).sum(dimensions);
  return {sum_dy, sum_dy_xmu, sum_dy_xmu * s.invstd, sum_dy};
}

at::Tensor gradient_of_input(const at::Tensor& gradient, const Saved& s, const at::Tensor& sum_dy,
                             const at::Tensor& sum_dy_xmu) {
  if (gradient.is_cuda()) {
    const at::Tensor weight = s.weight.defined() ? s.weight.to(s.mean.scalar_type()) : s.weight;
    return at::batch_norm_backward_elemt(gradient, s.input, s.mean, s.invstd, weight, sum_dy,
                                         sum_dy_xmu, s.counts.to(at::kInt));
  }
  const at::Tensor x = wide(s.input), dy = wide(gradient), total = s.counts.sum();
  const at::Tensor slope = s.invstd.square() * sum_dy_xmu / total;
  at::Tensor scale = s.invstd;
  if (s.weight.defined()) scale = scale * s.weight;
  return ((dy - per_channel(sum_dy / total, x) -
           (x - per_channel(s.mean, x)) * per_channel(slope, x)) *
          per_channel(scale, x))
      .to(s.input.scalar_type());
}

// Takes part in the exchange also where this rank's batch is empty.
std::pair<at::Tensor, at::Tensor> add_up_over_ranks(const GroupState& group, const Saved& s,
                                                    const GradientSums& mine) {
  const std::int64_t channels = s.input.size(1);
  // On the CPU in double, whatever the type of the input is, which nobody else has to know.
  const auto options =
      s.input.is_cuda() ? sums_on_cuda(s.input) : s.input.options().dtype(at::kDouble);
  at::Tensor both = at::zeros({2 * channels}, options);
  if (mine.dy.defined()) both = at::cat({mine.dy, mine.dy_xmu});
  if (!s.input.is_cuda()) both = both.to(at::kDouble);
  std::vector<at::Tensor> tensors{both};
  group.group->allreduce(tensors)->wait();
  return {both.slice(0, 0, channels), both.slice(0, channels)};
}

// What goes past autograd, for it takes no undefined tensors.
struct Call : torch::CustomClassHolder {
  std::shared_ptr<GroupState> group;
  at::Tensor running_mean, running_var;
  double momentum = 0, eps = 0;
};

// The kernels for GPUs want one of the two layouts.
at::Tensor laid_out(const at::Tensor& tensor) {
  const auto format = tensor.suggest_memory_format();
  const bool channels_last =
      format == at::MemoryFormat::ChannelsLast || format == at::MemoryFormat::ChannelsLast3d;
  return channels_last && tensor.is_contiguous(format) ? tensor : tensor.contiguous();
}

struct SyncFunction : torch::autograd::Function<SyncFunction> {
  static at::Tensor forward(AutogradContext* context, const c10::intrusive_ptr<Call>& call,
                            const at::Tensor& input, const std::optional<at::Tensor>& weight,
                            const std::optional<at::Tensor>& bias) {
    const at::Tensor none;
    const BatchNormArguments a{laid_out(input),    weight.value_or(none), bias.value_or(none),
                               call->running_mean, call->running_var,     call->momentum,
                               call->eps};
    const GroupState& group = *call->group;
    const JoinedStatistics joined = translated_of(
        group, [&] { return input.is_cuda() ? join_on_cuda(group, a) : join_on_cpu(group, a); });
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    context->save_for_backward({a.input, a.weight, joined.mean, joined.invstd, joined.counts});
    return normalize(a, joined);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto call = context->saved_data["call"].toCapsule();
    const GroupState& group = *static_cast<const Call&>(*call).group;
    if (at::GradMode::is_enabled()) {
      throw Error(group.global_rank, std::string(kName) +
                                         ": its backward cannot be differentiated; call "
                                         "backward() without create_graph");
    }
    const variable_list saved = context->get_saved_variables();
    const Saved s{saved[0], saved[1], saved[2], saved[3], saved[4]};
    // Without a weight there is no bias either, and no edges for them.
    const bool affine = s.weight.defined(), for_input = context->needs_input_grad(0),
               for_weight = affine && context->needs_input_grad(1),
               for_bias = affine && context->needs_input_grad(2);
    const at::Tensor gradient = laid_out(gradients[0]);
    const bool empty = s.input.numel() == 0;
    GradientSums sums;
    if (!empty) sums = sum_up(gradient, s, for_input, for_weight, for_bias);
    variable_list result(4);  // the first one is for `call`
    if (for_input) {
      const auto [dy, dy_xmu] =
          translated_of(group, [&] { return add_up_over_ranks(group, s, sums); });
      result[1] = empty ? at::zeros_like(s.input) : gradient_of_input(gradient, s, dy, dy_xmu);
    }
    const auto of_weight = [&](const at::Tensor& sum) {
      return empty ? at::zeros_like(s.weight) : sum.to(s.weight.scalar_type());
    };
    if (for_weight) result[2] = of_weight(sums.weight);
    if (for_bias) result[3] = of_weight(sums.bias);
    return result;
  }
};

std::optional<at::Tensor> if_defined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

at::Tensor sync_batch_norm(const std::shared_ptr<GroupState>& group,
                           const BatchNormArguments& arguments) {
  if (arguments.input.dim() < 2 || arguments.input.size(1) == 0) {
    throw Error(group->global_rank,
                c10::str(kName, ": the input must have the shape (batch, channels, …), with at ",
                         "least one channel; it is ", arguments.input.sizes()));
  }
  const auto call = c10::make_intrusive<Call>();
  call->group = group;
  call->running_mean = arguments.running_mean;
  call->running_var = arguments.running_var;
  call->momentum = arguments.momentum;
  call->eps = arguments.eps;
  return SyncFunction::apply(call, arguments.input, if_defined(arguments.weight),
                             if_defined(arguments.bias));
}

std::shared_ptr<GroupState> group_to_sync(const ProcessGroup& handle) {
  if (!handle && !is_initialized()) return nullptr;
  auto group = resolve(handle, kName);
  return group->is_member() && group->size() > 1 ? group : nullptr;
}

}  // namespace ddp::detail
