// Trains LeNet on real handwritten digits, on all ranks together, in under a minute on two CPU
// ranks:
//
//     ddprun -n 2 build/bin/samples/train_digits
//
// Every rank holds the whole model and sees its own part of the images. After each backward pass
// the gradients are the averages over all ranks, so that all models make the same step and stay the
// same.
#include <ddp/ddp.h>
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "samples/common/image_dataset.h"
#include "samples/common/lenet.h"
#include "samples/train_digits/options.h"

namespace digits {
namespace {

using Model = ddp::DistributedDataParallel<LeNet>;
using Loader = torch::data::StatelessDataLoader<ImageDataset, ddp::DistributedSampler>;

// One rank speaks for all.
template <typename... Arguments>
void say(const char* format, Arguments... arguments) {
  if (ddp::get_rank() == 0) std::printf(format, arguments...);
}

void set_learning_rate(torch::optim::Optimizer& optimizer, double learning_rate) {
  for (auto& group : optimizer.param_groups()) group.options().set_lr(learning_rate);
}

// One pass over this rank's part of the images. Returns the mean loss of all ranks.
double train_epoch(Model& model, torch::optim::Optimizer& optimizer, Loader& loader) {
  const auto device = ddp::local_device();
  auto sum_and_count = torch::zeros({2}, device);
  for (const auto& batch : loader) {
    optimizer.zero_grad();
    const auto loss = torch::nll_loss(model.forward(batch.data), batch.target.to(device));
    loss.backward();  // averages the gradients over the ranks while it runs
    optimizer.step();
    const auto count = static_cast<double>(batch.target.size(0));
    sum_and_count[0] += loss.detach() * count;
    sum_and_count[1] += count;
  }
  ddp::all_reduce(sum_and_count);
  return (sum_and_count[0] / sum_and_count[1]).item<double>();
}

// The share of the test images that are recognized. Each rank looks at its own part of them.
double accuracy(LeNet& model, const ImageDataset& test) {
  torch::NoGradGuard no_grad;
  const auto device = ddp::local_device();
  const auto mine = test.stride(ddp::get_rank(), ddp::get_world_size());
  auto right = torch::zeros({1}, torch::dtype(torch::kLong).device(device));
  for (std::int64_t i = 0; i < mine.target.size(0); i += 256) {
    const auto guess = model.forward(mine.data.slice(0, i, i + 256).to(device)).argmax(1);
    right += guess.eq(mine.target.slice(0, i, i + 256).to(device)).sum();
  }
  ddp::all_reduce(right);
  return right.item<double>() / static_cast<double>(test.size().value());
}

// Returns the accuracy on the test images after the last epoch.
double fit(Model& model, const ImageDataset& train, const ImageDataset& test,
           const Options& options) {
  // The sampler deals each rank its part. The loader holds a copy of it that follows set_epoch().
  ddp::DistributedSampler sampler(train.size().value());
  const auto loader =
      torch::data::make_data_loader(train, sampler, static_cast<std::size_t>(options.batch_size));
  ddp::optim::Adam optimizer(model.parameters());
  double test_accuracy = 0;
  std::chrono::duration<double> training{};
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    sampler.set_epoch(epoch);  // another order in each epoch
    set_learning_rate(optimizer,
                      options.learning_rate * (options.epochs + 1 - epoch) / options.epochs);
    const auto start = std::chrono::steady_clock::now();
    const double loss = train_epoch(model, optimizer, *loader);
    training += std::chrono::steady_clock::now() - start;
    test_accuracy = accuracy(model.module(), test);
    say("epoch %d: loss %.4f, test accuracy %.2f %%\n", epoch, loss, 100 * test_accuracy);
  }
  const auto samples =
      static_cast<double>(sampler.num_samples()) * ddp::get_world_size() * options.epochs;
  say("%.0f samples/s over all ranks\n", samples / training.count());
  return test_accuracy;
}

// Every rank loads to its own device, whatever device the model was saved from.
LeNet load(const std::string& path) {
  LeNet model;
  ddp::load_state_dict(model, ddp::load_on_all(path).dict());
  model.to(ddp::local_device());
  return model;
}

int train(const Options& options) {
  ddp::init_process_group();
  torch::manual_seed(1);  // the same weights in every run
  const auto images = options.images.read();
  const ImageDataset train_set(images.train), test_set(images.test);
  say("%zu images for training, %zu for the test, %d ranks, rank 0 on %s\n", images.train.size(),
      images.test.size(), ddp::get_world_size(), ddp::describe_device().c_str());
  // Gives every rank the weights of rank 0, and averages the gradients in every backward pass.
  Model model(LeNet{}, {.device = ddp::local_device()});
  const double test_accuracy = fit(model, train_set, test_set, options);

  // Python reads it with torch.load(path, weights_only=True).
  ddp::save_on_rank0(options.save, ddp::state_dict(model));
  auto reloaded = load(options.save);
  const double reloaded_accuracy = accuracy(reloaded, test_set);
  const bool same = reloaded_accuracy == test_accuracy;
  say("saved by rank 0 to %s, reloaded by all ranks: test accuracy %.2f %%, %s\n",
      options.save.c_str(), 100 * reloaded_accuracy, same ? "the same" : "which is NOT the same");
  ddp::destroy_process_group();
  return same ? 0 : 1;
}

}  // namespace
}  // namespace digits

int main(int argc, char** argv) {
  digits::Options options;
  try {
    options = digits::parse_options({argv + 1, argv + argc});
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "train_digits: %s\n", error.what());
    return 2;
  }
  if (options.help) {
    std::fputs(digits::help().c_str(), stdout);
    return 0;
  }
  // An exception is told to the launcher, printed, and becomes exit code 1.
  return ddp::record([&] { return digits::train(options); });
}
