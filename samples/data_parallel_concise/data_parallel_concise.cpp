// ResNet-18 by the two concise forms of data parallelism: data_parallel, one process with a replica
// on each device, and DistributedDataParallel, one process for each device.
//
//     build/bin/samples/data_parallel_concise
//
// In both, every step sees the same images, whatever the number of workers, and all workers
// together have the same CPUs.
#include <ddp/ddp.h>
#include <torch/torch.h>

#include <chrono>
#include <cstdio>

#include "samples/common/devices.h"
#include "samples/common/experiment_options.h"
#include "samples/common/image_dataset.h"
#include "samples/common/resnet18.h"
#include "samples/common/scratch_folder.h"
#include "samples/common/text_table.h"

namespace concise {
namespace {

using Clock = std::chrono::steady_clock;
using digits::ImageDataset;
using digits::ResNet18;
using samples::TrainingPlan;
using samples::TrainingResult;

// Parts of what one worker sees; all share one order of the images, so that the parts of a batch
// are the batch of a single worker.
struct Share {
  int rank = 0;
  int workers = 1;
};

struct Data {
  ImageDataset train, test;
};

Data read(const samples::ExperimentOptions& options) {
  const auto images = options.source.read();
  return {ImageDataset(samples::first_images(images.train, options.images)),
          ImageDataset(images.test)};
}

double accuracy(ResNet18 model, const ImageDataset& test, const torch::Device& device) {
  const torch::NoGradGuard no_grad;
  model->eval();
  const auto all = test.stride(0, 1);
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < all.target.size(0); i += 256) {
    const auto guess = model->forward(all.data.slice(0, i, i + 256).to(device)).argmax(1).cpu();
    right += guess.eq(all.target.slice(0, i, i + 256)).sum().item<std::int64_t>();
  }
  model->train();
  return static_cast<double>(right) / static_cast<double>(all.target.size(0));
}

// One pass over this worker's share. `forward` is all in which the two forms differ. Returns the
// mean loss of this share.
template <class Forward>
double train_epoch(Forward& forward, torch::optim::SGD& optimizer, const Data& data,
                   ddp::DistributedSampler& sampler, int batch_size, const torch::Device& device) {
  double sum = 0, count = 0;
  auto train = data.train;
  sampler.reset();
  while (const auto indices = sampler.next(static_cast<std::size_t>(batch_size))) {
    const auto batch = train.get_batch(*indices);
    const auto output = forward(batch.data.to(device));
    const auto loss = torch::nn::functional::cross_entropy(output, batch.target.to(device));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const auto size = static_cast<double>(indices->size());
    sum += loss.template item<double>() * size;
    count += size;
  }
  return sum / count;
}

template <class Forward>
TrainingResult train(Forward& forward, ResNet18 model, const TrainingPlan& plan, const Data& data,
                     const Share& share, const torch::Device& device) {
  torch::optim::SGD optimizer(model->parameters(), plan.learning_rate);
  ddp::DistributedSampler sampler(data.train.size().value(),
                                  {.num_replicas = share.workers, .rank = share.rank});
  TrainingResult result;
  const auto start = Clock::now();
  for (int epoch = 0; epoch < plan.epochs; ++epoch) {
    sampler.set_epoch(epoch);
    result.loss =
        train_epoch(forward, optimizer, data, sampler, plan.batch_size / share.workers, device);
  }
  const std::chrono::duration<double> time = Clock::now() - start;
  result.seconds_per_epoch = time.count() / plan.epochs;
  if (share.rank == 0) result.accuracy = accuracy(model, data.test, device);
  return result;
}

// ---- the form of one process ----

TrainingResult in_one_process(const TrainingPlan& plan, const Data& data) {
  const auto devices = samples::worker_devices(plan.workers);
  torch::manual_seed(1);
  ResNet18 model;
  model->to(devices[0]);
  const auto forward = [&](const torch::Tensor& x) {
    return ddp::data_parallel(model, x, devices);
  };
  return train(forward, model, plan, data, {}, devices[0]);
}

// ---- the form of a process for each worker ----

void worker(int rank, const std::string& data_folder, const std::string& digits_file, int images,
            int workers, int batch_size, double learning_rate, int epochs,
            const std::string& result_file) {
  ddp::init_process_group();
  torch::manual_seed(1);
  samples::ExperimentOptions options;
  options.images = images;
  options.source = {data_folder, digits_file};
  const auto data = read(options);
  const auto device = ddp::local_device();
  ddp::DistributedDataParallel<ResNet18> model(ResNet18{}, {.device = device});
  auto result = train(model, ResNet18(model.ptr()), {workers, batch_size, learning_rate, epochs},
                      data, {rank, workers}, device);
  auto loss = torch::tensor({result.loss}, torch::kDouble).to(device);
  ddp::all_reduce(loss, ddp::ReduceOp::AVG);
  result.loss = loss.item<double>();
  if (rank == 0) samples::write_result(result_file, result);
  ddp::destroy_process_group();
}
const ddp::SpawnWorker spawned_worker("train", worker);

TrainingResult in_processes(const TrainingPlan& plan, const samples::ExperimentOptions& options) {
  const samples::ScratchFolder folder;
  const std::string file = folder / "result";
  const samples::SpawnedDevices devices(plan.workers);
  ddp::spawn(plan.workers, "train", options.source.data, options.source.digits, options.images,
             plan.workers, plan.batch_size, plan.learning_rate, plan.epochs, file);
  return samples::read_result(file);
}

// ---- both ----

constexpr const char* kFormHelp =
    "  --form WORD      both, data_parallel (one process) or ddp (a process for each\n"
    "                   worker) (both)\n";

int run(const std::vector<std::string>& arguments) {
  samples::ExperimentOptions options;
  options.one = {.batch_size = 64, .learning_rate = 0.05, .epochs = 2};
  const auto defaults = options;
  std::string form = "both";
  samples::parse_experiment(arguments, options, [&](samples::OptionTable& table) {
    table.word("--form", form, {"both", "data_parallel", "ddp"});
  });
  if (options.help) {
    std::printf(
        "ResNet-18 by data_parallel and by DistributedDataParallel, with 1, 2 and 4 workers.\n\n"
        "  data_parallel_concise [options]\n\n%s%s",
        kFormHelp, samples::experiment_help(defaults).c_str());
    return 0;
  }
  samples::worker_devices(1);  // LibTorch has not been used yet
  const auto data = read(options);
  std::vector<std::vector<std::string>> table{samples::result_head()};
  for (const int workers : options.workers) {
    const auto plan = samples::scale(options.one, workers, options.scaling);
    const auto add = [&](const char* name, const TrainingResult& result) {
      table.push_back(samples::result_line(name, plan, result, samples::device_kind(workers)));
      std::fprintf(stderr, "%s, %d workers: %.2f s/epoch\n", name, workers,
                   result.seconds_per_epoch);
    };
    if (form != "ddp") add("data_parallel", in_one_process(plan, data));
    if (form != "data_parallel") add("DDP", in_processes(plan, options));
  }
  std::printf("ResNet-18, %d epochs, %zu images of %s, %s\n%s", options.one.epochs,
              data.train.size().value(),
              options.source.describe(options.source.read().train).c_str(),
              samples::machine_size().c_str(), samples::text_table(table).c_str());
  return 0;
}

}  // namespace
}  // namespace concise

int main(int argc, char** argv) {
  ddp::run_if_spawned();
  return samples::run_sample("data_parallel_concise", argc, argv, concise::run);
}
