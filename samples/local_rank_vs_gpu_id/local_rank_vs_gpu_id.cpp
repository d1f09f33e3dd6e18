// Three numbers that are easily taken for one: the local rank of a worker, the ordinal K of its
// device cuda:K, and the id of the GPU behind it. And what becomes of a batch when the data set is
// shared among workers.
//
//     CUDA_VISIBLE_DEVICES=1,2,3,4 ddprun -n 2 --simulate-gpus 8
//     build/bin/samples/local_rank_vs_gpu_id
//
// The worker with local rank 0 uses cuda:0, the first entry of CUDA_VISIBLE_DEVICES: GPU 1.
// --simulate-gpus acts as if the machine had that many GPUs while the CPU does the work; leave it
// out on a machine that has them. Try also -n 4, and -n 4 without CUDA_VISIBLE_DEVICES. With -n 5
// there are more workers than GPUs, and ddprun refuses.
#include <ddp/ddp.h>
#include <torch/torch.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

constexpr int kInputSize = 5;
constexpr int kOutputSize = 2;
constexpr int kBatchSize = 30;
constexpr int kSamples = 90;

std::string sizes(const torch::Tensor& tensor) {
  std::ostringstream out;
  out << tensor.sizes();
  return out.str();
}

// One linear layer that tells the sizes it sees: with one process for each GPU, the whole batch of
// its rank.
struct Model : torch::nn::Module {
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(kInputSize, kOutputSize));

  torch::Tensor forward(const torch::Tensor& input) {
    auto output = fc(input);
    std::printf("rank %d: In Model: input size %s output size %s\n", ddp::get_rank(),
                sizes(input).c_str(), sizes(output).c_str());
    return output;
  }
};

struct RandomDataset : torch::data::datasets::Dataset<RandomDataset, torch::data::TensorExample> {
  torch::Tensor data = torch::randn({kSamples, kInputSize});

  torch::data::TensorExample get(std::size_t index) override {
    return data[static_cast<int64_t>(index)];
  }
  torch::optional<std::size_t> size() const override { return kSamples; }
};

// Older launchers gave the local rank as an argument: --local_rank=0, later --local-rank=0. Today
// it is in the environment, and ddp::local_rank() reads it there; `ddprun --pass-local-rank` gives
// both.
void check_local_rank_argument(std::string_view argument) {
  const auto equals = argument.find('=');
  const auto name = argument.substr(0, equals);
  if (equals == argument.npos || (name != "--local_rank" && name != "--local-rank")) {
    throw std::invalid_argument("unknown argument '" + std::string(argument) +
                                "', expected --local-rank=N or --local_rank=N");
  }
  const auto digits = argument.substr(equals + 1);
  int number = -1;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() ||
      number != ddp::local_rank()) {
    throw std::invalid_argument(std::string(argument) +
                                " contradicts LOCAL_RANK=" + std::to_string(ddp::local_rank()));
  }
  std::printf("local rank %d came as %s, too\n", number, std::string(name).c_str());
}

void run() {
  ddp::init_process_group();
  const auto device = ddp::local_device();
  const auto gpu = ddp::gpu_id();
  std::printf("rank %d: local rank %d, device %s, GPU id %s\n", ddp::get_rank(), ddp::local_rank(),
              ddp::describe_device().c_str(), gpu.empty() ? "none" : gpu.c_str());

  // The sampler deals the 90 samples to the ranks, so that each rank sees its part only; when they
  // cannot be dealt evenly it repeats a few. The batch size is that of one rank.
  ddp::DistributedSampler sampler(kSamples);
  auto loader = torch::data::make_data_loader(
      RandomDataset().map(torch::data::transforms::Stack<torch::data::TensorExample>()), sampler,
      kBatchSize);
  ddp::DistributedDataParallel<Model> model(std::make_shared<Model>(), {.device = device});
  for (const auto& batch : *loader) {
    const auto input = batch.data.to(device);
    const auto output = model.forward(input);
    std::printf("rank %d: Outside: input size %s output size %s\n", ddp::get_rank(),
                sizes(input).c_str(), sizes(output).c_str());
  }
  ddp::destroy_process_group();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) check_local_rank_argument(argv[i]);
    run();
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "local_rank_vs_gpu_id: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "local_rank_vs_gpu_id: %s\n", error.what());
    return 1;
  }
}
