// Data parallelism with nothing hidden: LeNet trained by 1, 2 and 4 workers in one process.
//
//     build/bin/samples/data_parallel_from_scratch
//
// Each worker has a device and a copy of the parameters. Every batch is split among them, each
// computes the gradients of its part in a thread of its own, the gradients are added up over the
// workers, and all make the same step. On a machine without GPUs the workers are threads.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <future>

#include "samples/common/devices.h"
#include "samples/common/experiment_options.h"
#include "samples/common/image_dataset.h"
#include "samples/common/text_table.h"
#include "samples/data_parallel_from_scratch/lenet_by_hand.h"

namespace by_hand {
namespace {

using Devices = std::vector<torch::Device>;

// The parameters for each worker: copies on its device, whose gradients are its own.
std::vector<Parameters> copy_parameters(const Parameters& parameters, const Devices& devices) {
  std::vector<Parameters> workers;
  for (const auto& device : devices) {
    auto& own = workers.emplace_back();
    for (const auto& parameter : parameters) {
      own.push_back(parameter.detach().clone().to(device).requires_grad_());
    }
  }
  return workers;
}

// Cuts a tensor by its rows, a part on each device. Of fewer rows than devices there are fewer
// parts.
std::vector<torch::Tensor> distribute(const torch::Tensor& tensor, const Devices& devices) {
  auto parts = tensor.chunk(static_cast<std::int64_t>(devices.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].to(devices[i]);
  return parts;
}

struct SplitBatch {
  std::vector<torch::Tensor> xs, ys;
};

SplitBatch split_batch(const torch::Tensor& x, const torch::Tensor& y, const Devices& devices) {
  return {distribute(x, devices), distribute(y, devices)};
}

// Makes each tensor the sum of all, which lie on the workers' devices: adds up on the first one,
// and copies the sum back.
void all_reduce(const std::vector<torch::Tensor>& tensors) {
  const auto& sum = tensors[0];
  for (std::size_t i = 1; i < tensors.size(); ++i) sum.add_(tensors[i].to(sum.device()));
  for (std::size_t i = 1; i < tensors.size(); ++i) tensors[i].copy_(sum);
}

// Leaves the gradients of its part in the worker's parameters. Returns the sum of the losses.
double compute_gradients(const torch::Tensor& x, const torch::Tensor& y, const Parameters& own) {
  const auto loss = torch::nn::functional::cross_entropy(
      lenet(x, own), y, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
  loss.backward();
  return loss.item<double>();
}

// Gives every worker the sums over all workers.
void all_reduce_gradients(std::vector<Parameters>& workers) {
  for (std::size_t i = 0; i < workers[0].size(); ++i) {
    std::vector<torch::Tensor> gradients;
    for (auto& own : workers) {
      // A worker that had no part of a small batch has no gradient.
      if (!own[i].grad().defined()) own[i].mutable_grad() = torch::zeros_like(own[i]);
      gradients.push_back(own[i].grad());
    }
    all_reduce(gradients);
  }
}

// One step of all workers. Returns the sum of the losses.
double train_batch(const torch::Tensor& x, const torch::Tensor& y, std::vector<Parameters>& workers,
                   const Devices& devices, double learning_rate) {
  const auto [xs, ys] = split_batch(x, y, devices);
  std::vector<std::future<double>> others;
  for (std::size_t i = 1; i < xs.size(); ++i) {
    others.push_back(std::async(std::launch::async, compute_gradients, xs[i], ys[i], workers[i]));
  }
  double loss = compute_gradients(xs[0], ys[0], workers[0]);
  for (auto& other : others) loss += other.get();
  all_reduce_gradients(workers);
  for (auto& own : workers) sgd(own, learning_rate, x.size(0));
  return loss;
}

double accuracy(const Parameters& parameters, const digits::ImageDataset& test) {
  const torch::NoGradGuard no_grad;
  const auto all = test.stride(0, 1);
  const auto device = parameters[0].device();
  const auto guess = lenet(all.data.to(device), parameters).argmax(1);
  return guess.eq(all.target.to(device)).to(torch::kDouble).mean().item<double>();
}

samples::TrainingResult train(const samples::TrainingPlan& plan,
                              const digits::ImageDataset& train_set,
                              const digits::ImageDataset& test_set) {
  const auto devices = samples::worker_devices(plan.workers);
  torch::manual_seed(1);  // the same start and order in every run
  auto workers = copy_parameters(initial_parameters(0.1), devices);
  const auto all = train_set.stride(0, 1);
  samples::TrainingResult result;
  std::chrono::duration<double> time{};
  for (int epoch = 0; epoch < plan.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    double loss = 0;
    for (const auto& batch : torch::randperm(all.target.size(0)).split(plan.batch_size)) {
      loss += train_batch(all.data.index_select(0, batch), all.target.index_select(0, batch),
                          workers, devices, plan.learning_rate);
    }
    time += std::chrono::steady_clock::now() - start;
    result.loss = loss / static_cast<double>(all.target.size(0));
  }
  result.seconds_per_epoch = time.count() / plan.epochs;
  result.accuracy = accuracy(workers[0], test_set);
  return result;
}

int run(const std::vector<std::string>& arguments) {
  samples::ExperimentOptions options;
  options.one = {.batch_size = 32, .learning_rate = 0.05, .epochs = 10};
  const auto defaults = options;
  samples::parse_experiment(arguments, options);
  if (options.help) {
    std::printf(
        "Data parallelism written by hand: LeNet, in one process, by 1, 2 and 4 workers.\n\n"
        "  data_parallel_from_scratch [options]\n\n%s",
        samples::experiment_help(defaults).c_str());
    return 0;
  }
  samples::worker_devices(1);  // LibTorch has not been used yet
  const auto images = options.source.read();
  const digits::ImageDataset train_set(samples::first_images(images.train, options.images)),
      test_set(images.test);
  const int threads = torch::get_num_threads();
  std::vector<std::vector<std::string>> table{samples::result_head()};
  for (const int workers : options.workers) {
    const auto plan = samples::scale(options.one, workers, options.scaling);
    torch::set_num_threads(std::max(1, threads / workers));  // the CPUs are shared
    table.push_back(samples::result_line("from scratch", plan, train(plan, train_set, test_set),
                                         samples::device_kind(workers)));
  }
  std::printf("LeNet, %d epochs, %zu images of %s, %s\n%s", options.one.epochs,
              train_set.size().value(), options.source.describe(images.train).c_str(),
              samples::machine_size().c_str(), samples::text_table(table).c_str());
  return 0;
}

}  // namespace
}  // namespace by_hand

int main(int argc, char** argv) {
  return samples::run_sample("data_parallel_from_scratch", argc, argv, by_hand::run);
}
