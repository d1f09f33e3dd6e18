// SyncBatchNorm on some ranks against plain batch normalization of the joined batch.
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <numeric>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

using torch::nn::BatchNormOptions;

constexpr int kChannels = 3;

double difference(const at::Tensor& some, const at::Tensor& others) {
  if (some.sizes() != others.sizes()) return 1e30;
  if (some.numel() == 0) return 0;
  return (some - others).abs().max().item<double>();
}

// Once NaN, always NaN: std::max would forget it.
void keep_largest(double& largest, double each) {
  if (!(each <= largest)) largest = each;
}

// What a case is made of.
struct Case {
  std::vector<std::int64_t> shape;   // behind batch and channels
  std::vector<std::int64_t> shares;  // samples of each rank of the group
  BatchNormOptions options = BatchNormOptions(kChannels);
  c10::ScalarType type = at::kDouble;
  bool channels_last = false;
  ProcessGroup group = {};
};

// Rows of a rank in the joined batch.
at::Tensor part_of(const at::Tensor& whole, const Case& c) {
  const auto index = static_cast<std::size_t>(get_rank(c.group));
  const auto begin = std::accumulate(c.shares.begin(), c.shares.begin() + index, std::int64_t{0});
  at::Tensor part = whole.slice(0, begin, begin + c.shares[index]).clone();
  if (c.channels_last) part = part.contiguous(at::MemoryFormat::ChannelsLast);
  return part;
}

at::Tensor joined_tensor(const Case& c) {
  std::vector<std::int64_t> shape{std::accumulate(c.shares.begin(), c.shares.end(), 0l), kChannels};
  shape.insert(shape.end(), c.shape.begin(), c.shape.end());
  return torch::randn(shape).to(c.type) * 2 + 5;
}

template <class Layer>
void randomize(Layer& layer) {
  const torch::NoGradGuard no_grad;
  for (at::Tensor& each : layer->parameters()) each.copy_(torch::rand_like(each) + 0.5);
}

at::Tensor sum_over_ranks(const at::Tensor& gradient, const Case& c) {
  const at::Tensor sum = gradient.defined() ? gradient.clone() : at::Tensor();
  all_reduce(sum, ReduceOp::SUM, c.group);
  return sum;
}

// Three steps in training; the largest difference of anything to the joined batch.
template <class Layer, class Joined>
double compare_in_training(Layer& layer, Joined& joined, const Case& c) {
  double largest = 0;
  const auto note = [&](const at::Tensor& some, const at::Tensor& others) {
    keep_largest(largest, difference(some.to(at::kDouble), others.to(at::kDouble)));
  };
  for (int step = 0; step < 3; ++step) {
    torch::manual_seed(step);
    const at::Tensor whole = joined_tensor(c).requires_grad_(), factors = joined_tensor(c);
    const at::Tensor mine = part_of(whole.detach(), c).requires_grad_();
    layer->zero_grad();
    joined->zero_grad();
    const at::Tensor output = layer->forward(mine), expected = joined->forward(whole);
    (output * part_of(factors, c)).sum().backward();
    (expected * factors).sum().backward();
    note(output.detach(), part_of(expected.detach(), c));
    note(mine.grad(), part_of(whole.grad(), c));
    for (std::size_t i = 0; i < joined->parameters().size(); ++i) {
      note(sum_over_ranks(layer->parameters()[i].grad(), c), joined->parameters()[i].grad());
    }
    for (std::size_t i = 0; i < joined->buffers().size(); ++i) {
      note(layer->buffers()[i], joined->buffers()[i]);
    }
  }
  return largest;
}

template <class Layer>
Layer copy_of(const Layer& layer) {
  return std::dynamic_pointer_cast<typename Layer::ContainedType>(layer->clone());
}

template <class BatchNorm>
void report(const std::string& name, const Case& c) {
  torch::manual_seed(7);
  BatchNorm layer(c.options);
  layer->to(c.type == at::kBFloat16 ? at::kFloat : c.type);
  randomize(layer);
  BatchNorm joined = copy_of(layer);
  convert_sync_batchnorm(layer, c.group);
  std::cout << name << ": " << compare_in_training(layer, joined, c) << std::endl;
}

void sync_bn_as_joined() {
  init_process_group();
  using torch::nn::BatchNorm1d;
  using torch::nn::BatchNorm2d;
  using torch::nn::BatchNorm3d;
  const BatchNormOptions options(kChannels);
  report<BatchNorm1d>("1d", {.shape = {}, .shares = {4, 4, 4}});
  report<BatchNorm1d>("1d long", {.shape = {5}, .shares = {2, 2, 2}});
  report<BatchNorm2d>("2d", {.shape = {4, 5}, .shares = {2, 2, 2}});
  report<BatchNorm2d>("2d channels last",
                      {.shape = {4, 5}, .shares = {2, 2, 2}, .channels_last = true});
  report<BatchNorm3d>("3d", {.shape = {2, 3, 2}, .shares = {2, 2, 2}});
  report<BatchNorm2d>("uneven", {.shape = {4, 5}, .shares = {1, 5, 3}});
  report<BatchNorm2d>("empty", {.shape = {4, 5}, .shares = {3, 0, 2}});
  report<BatchNorm2d>("only one has a batch", {.shape = {4, 5}, .shares = {0, 4, 0}});
  report<BatchNorm2d>("cumulative", {.shape = {4, 5},
                                     .shares = {1, 2, 3},
                                     .options = BatchNormOptions(options).momentum(std::nullopt)});
  report<BatchNorm2d>(
      "not affine",
      {.shape = {4, 5}, .shares = {1, 2, 3}, .options = BatchNormOptions(options).affine(false)});
  report<BatchNorm2d>("not tracked",
                      {.shape = {4, 5},
                       .shares = {1, 2, 3},
                       .options = BatchNormOptions(options).track_running_stats(false)});
  report<BatchNorm2d>("float", {.shape = {4, 5}, .shares = {1, 2, 3}, .type = at::kFloat});
  report<BatchNorm2d>("bfloat16", {.shape = {4, 5}, .shares = {1, 2, 3}, .type = at::kBFloat16});
  destroy_process_group();
}

// The layer of our own takes what a marked one cannot: nothing to know it by, one value per
// channel.
void sync_bn_layer() {
  init_process_group();
  const Case bare{.shape = {},
                  .shares = {1, 1, 2},
                  .options = BatchNormOptions(kChannels).affine(false).track_running_stats(false)};
  SyncBatchNorm layer(bare.options);
  torch::nn::BatchNorm1d joined(bare.options);
  std::cout << "bare: " << compare_in_training(layer, joined, bare) << std::endl;

  const Case full{.shape = {2, 2}, .shares = {1, 1, 2}};
  SyncBatchNorm other(kChannels);
  other->to(at::kDouble);
  torch::nn::BatchNorm2d joined_other(full.options);
  joined_other->to(at::kDouble);
  std::cout << "full: " << compare_in_training(other, joined_other, full) << std::endl;

  const at::Tensor image = part_of(joined_tensor(full), full);
  other->eval();
  joined_other->eval();
  std::cout << "eval: " << torch::allclose(other(image), joined_other(image)) << std::endl;
  auto copied = copy_of(other);
  std::cout << "copy: " << torch::allclose(copied(image), joined_other(image)) << std::endl;
  try {
    SyncBatchNorm alone(kChannels);
    alone(rank() == 1 ? torch::ones({1, kChannels}) : torch::ones({0, kChannels}));
  } catch (const Error& error) {
    std::cout << error.what() << std::endl;
  }
  destroy_process_group();
}

void sync_bn_in_a_group() {
  init_process_group();
  const ProcessGroup outer = new_group({0, 2});
  if (outer.is_member()) {
    report<torch::nn::BatchNorm2d>("group", {.shape = {3, 3}, .shares = {2, 3}, .group = outer});
  } else {  // plain on a rank outside
    torch::nn::BatchNorm2d layer(kChannels), plain(kChannels);
    convert_sync_batchnorm(layer, outer);
    const at::Tensor image = torch::randn({2, kChannels, 3, 3});
    std::cout << "plain: " << torch::equal(layer(image), plain(image)) << std::endl;
  }
  destroy_process_group();
}

// Everything that must be as if nobody had converted anything.
void sync_bn_plain() {
  torch::manual_seed(1);
  using torch::nn::BatchNorm2d;
  const BatchNormOptions untracked = BatchNormOptions(kChannels).track_running_stats(false);
  BatchNorm2d marked(kChannels), evaluating(kChannels), no_statistics(untracked), other(kChannels);
  const at::Tensor image = torch::randn({2, kChannels, 3, 3});
  const at::Tensor plain = torch::nn::BatchNorm2d(kChannels)->forward(image);
  evaluating->forward(image);
  evaluating->eval();
  no_statistics->eval();
  const at::Tensor evaluated = evaluating(image), untracked_output = no_statistics(image);

  convert_sync_batchnorm(marked);  // before there is a group
  std::cout << "without a group: " << torch::equal(marked(image), plain) << std::endl;
  init_process_group();
  convert_sync_batchnorm(evaluating);
  convert_sync_batchnorm(no_statistics);
  const at::Tensor mine = image + rank();
  std::cout << "unmarked: "
            << torch::equal(other(mine), torch::nn::BatchNorm2d(kChannels)->forward(mine)) << " "
            << torch::allclose(other->running_mean, 0.1 * mine.mean({0, 2, 3})) << std::endl;
  std::cout << "eval: " << torch::equal(evaluating(image), evaluated) << std::endl;
  std::cout << "eval without statistics: " << torch::equal(no_statistics(image), untracked_output)
            << std::endl;
  // Not plain, also where autograd is left out.
  const at::Tensor joined = torch::cat({image, image + 1});
  const at::Tensor expected = torch::nn::BatchNorm2d(kChannels)->forward(joined).detach().slice(
      0, 2 * rank(), 2 * rank() + 2);
  {
    const torch::NoGradGuard guard;
    std::cout << "no grad: " << torch::allclose(marked(mine), expected, 1e-4, 1e-5) << std::endl;
  }
  const c10::InferenceMode guard;
  std::cout << "inference mode: " << torch::allclose(marked(mine), expected, 1e-4, 1e-5)
            << std::endl;
}

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("convolution", convolution);
    register_module("norm", norm);
    register_module("end", end);
  }
  at::Tensor forward(const at::Tensor& x) {
    return end(torch::relu(norm(convolution(x))).mean({2, 3}));
  }
  torch::nn::Conv2d convolution{torch::nn::Conv2dOptions(1, 4, 3)};
  torch::nn::BatchNorm2d norm{4};
  torch::nn::Linear end{4, 1};
};
TORCH_MODULE(Net);

// Three steps of SGD; the weights and buffers must be those of one process with the joined batch.
void sync_bn_and_ddp() {
  init_process_group();
  torch::manual_seed(1);
  Net net, alone;
  net->to(at::kDouble);
  alone->to(at::kDouble);
  {
    const torch::NoGradGuard guard;
    for (std::size_t i = 0; i < net->parameters().size(); ++i) {
      alone->parameters()[i].copy_(net->parameters()[i]);
    }
  }
  DistributedDataParallel<Net> model(convert_sync_batchnorm(net));
  std::cout << "has_sync_bn: " << model.logging_data()["has_sync_bn"] << std::endl;
  torch::optim::SGD optimizer(model.parameters(), 0.1), optimizer_alone(alone->parameters(), 0.1);
  for (int step = 0; step < 3; ++step) {
    const at::Tensor batch = torch::randn({4 * world_size(), 1, 6, 6}, at::kDouble);
    optimizer.zero_grad();
    optimizer_alone.zero_grad();
    model(batch.slice(0, 4 * rank(), 4 * rank() + 4)).square().mean().backward();
    alone(batch).square().mean().backward();
    optimizer.step();
    optimizer_alone.step();
  }
  double largest = difference(net->norm->running_var, alone->norm->running_var);
  for (std::size_t i = 0; i < net->parameters().size(); ++i) {
    keep_largest(largest, difference(net->parameters()[i], alone->parameters()[i]));
  }
  std::cout << "largest difference: " << largest << std::endl;
  destroy_process_group();
}

void sync_bn_refused() {
  init_process_group();
  const auto expect_refused = [](const std::function<void()>& call) {
    try {
      call();
      std::cout << "not refused" << std::endl;
    } catch (const Error& error) {
      std::cout << error.what() << std::endl;
    }
  };
  torch::nn::BatchNorm1d without_tensors(
      BatchNormOptions(kChannels).affine(false).track_running_stats(false));
  torch::nn::Sequential bare(without_tensors);
  expect_refused([&] { convert_sync_batchnorm(bare); });
  // A refusal marks none of the layers.
  torch::nn::Sequential some(torch::nn::BatchNorm1d(kChannels), without_tensors);
  expect_refused([&] { convert_sync_batchnorm(some); });
  std::cout << "has_sync_bn: "
            << DistributedDataParallel<torch::nn::Sequential>(some).logging_data()["has_sync_bn"]
            << std::endl;
  SyncBatchNorm flat(kChannels);
  expect_refused([&] { flat(torch::ones({kChannels})); });
  torch::nn::BatchNorm1dImpl on_the_stack(kChannels);
  expect_refused([&] { convert_sync_batchnorm(on_the_stack); });
  torch::nn::BatchNorm1d layer(kChannels);
  convert_sync_batchnorm(layer);
  const at::Tensor input = torch::randn({4, kChannels}).requires_grad_();
  expect_refused(
      [&] { torch::autograd::grad({layer(input).square().sum()}, {input}, {}, true, true); });
  destroy_process_group();
}

}  // namespace

Scenarios sync_batch_norm_scenarios() {
  return {{"sync_bn_as_joined", sync_bn_as_joined},   {"sync_bn_layer", sync_bn_layer},
          {"sync_bn_in_a_group", sync_bn_in_a_group}, {"sync_bn_plain", sync_bn_plain},
          {"sync_bn_and_ddp", sync_bn_and_ddp},       {"sync_bn_refused", sync_bn_refused}};
}

}  // namespace ddp::test
