// One rank that trains with the SDK and prints a check sum of every gradient: train MODE... The
// same as train.py does with Python's DDP.
#include <torch/torch.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

#include "ddp/ddp.h"

namespace {

constexpr int64_t kShare = 8;  // samples of a rank

struct NetImpl : torch::nn::Module {
  explicit NetImpl(const std::string& mode) {
    conv1 = register_module("conv1", torch::nn::Conv2d(1, 6, 5));
    norm1 = register_module("norm1", torch::nn::BatchNorm2d(6));
    conv2 = register_module("conv2", torch::nn::Conv2d(6, 16, 5));
    norm2 = register_module("norm2", torch::nn::BatchNorm2d(16));
    fc1 = register_module("fc1", torch::nn::Linear(256, 120));
    extra = register_module("extra", torch::nn::Linear(120, 120));
    fc2 = register_module("fc2", torch::nn::Linear(120, 10));
    const auto sparse = torch::nn::EmbeddingOptions(10, 256).sparse(mode == "sparse");
    embed = register_module("embed", torch::nn::Embedding(sparse));
    for (auto& parameter : conv1->parameters()) parameter.set_requires_grad(mode != "frozen");
  }

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& hint, bool use_extra) {
    x = torch::max_pool2d(torch::relu(norm1(conv1(x))), 2);
    x = torch::max_pool2d(torch::relu(norm2(conv2(x))), 2);
    x = torch::relu(fc1(x.flatten(1) + embed(hint)));
    if (use_extra) x = torch::relu(extra(x));
    return torch::log_softmax(fc2(x), 1);
  }

  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  torch::nn::BatchNorm2d norm1{nullptr}, norm2{nullptr};
  torch::nn::Linear fc1{nullptr}, extra{nullptr}, fc2{nullptr};
  torch::nn::Embedding embed{nullptr};
};
TORCH_MODULE(Net);
using Model = ddp::DistributedDataParallel<Net>;

// zlib.crc32 of Python.
uint32_t crc32(const void* data, size_t size) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; ++i) {
    crc ^= static_cast<const unsigned char*>(data)[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0u);
  }
  return ~crc;
}

void show(const std::string& what, const torch::Tensor& tensor) {
  std::array<char, 16> text{"none"};
  if (tensor.defined()) {
    const torch::Tensor dense = tensor.is_sparse() ? tensor.to_dense() : tensor;
    const torch::Tensor plain = dense.detach().contiguous();
    std::snprintf(text.data(), text.size(), "%08x", crc32(plain.data_ptr(), plain.nbytes()));
  }
  std::cout << "rank " + std::to_string(ddp::rank()) + " " + what + " " + text.data() << std::endl;
}

void train(Model& model, int step, const std::string& mode) {
  torch::manual_seed(1000 + step);
  const int64_t count = kShare * ddp::world_size(), first = kShare * ddp::rank();
  const auto images = torch::randn({count, 1, 28, 28}),
             labels = torch::randint(10, {count}, torch::kLong);
  const bool use_extra = mode == "find_unused" ? ddp::rank() == 1 : mode != "static_graph";
  const auto target = labels.slice(0, first, first + kShare);
  const auto output = model->forward(images.slice(0, first, first + kShare), target, use_extra);
  torch::nll_loss(output, target).backward();
  for (const auto& parameter : model->named_parameters()) {
    show(mode + ": step " + std::to_string(step) + " gradient " + parameter.key(),
         parameter->grad());
  }
}

ddp::DistributedDataParallelOptions options(const std::string& mode) {
  if (mode == "default_buckets") return {};
  if (mode == "bucket_view") return {.bucket_cap_mb = 0.05, .gradient_as_bucket_view = true};
  return {.broadcast_buffers = mode != "own_buffers",
          .bucket_cap_mb = 0.05,
          .find_unused_parameters = mode == "find_unused",
          .static_graph = mode == "static_graph"};
}

// In the order of Python's state_dict.
void show_state(const Model& model, const std::string& mode) {
  for (const auto& child : model.module().named_children()) {
    for (const auto& each : child->get()->named_parameters()) {
      show(mode + ": final " + child.key() + "." + each.key(), *each);
    }
    for (const auto& each : child->get()->named_buffers()) {
      show(mode + ": final " + child.key() + "." + each.key(), *each);
    }
  }
}

void show_buckets(const Model& model, const std::string& mode) {
  auto data = model.logging_data();
  for (const char* name : {"bucket_sizes", "rebuilt_bucket_sizes", "has_rebuilt_buckets"}) {
    std::cout << "rank " + std::to_string(ddp::rank()) + " " + mode + ": " + name + " " + data[name]
              << std::endl;
  }
}

void use_groups() {
  const int last = ddp::world_size() - 1;
  std::vector<int> ranks;
  for (int rank = last; rank >= 0; --rank) ranks.push_back(rank);
  const ddp::ProcessGroup group = ddp::new_group(ranks);
  const auto tensor = torch::arange(4.0) + ddp::rank();
  ddp::all_reduce(tensor, ddp::ReduceOp::SUM, group);
  show("group sum", tensor);
  const auto gathered = ddp::all_gather(tensor * (1 + ddp::rank()));
  ddp::broadcast(tensor, last);
  show("gathered", torch::cat(gathered));
  ddp::barrier();
}

void run(const std::string& mode) {
  torch::manual_seed(1 + ddp::rank());  // DDP has to make the ranks equal
  Model model(Net(mode), options(mode));
  const double momentum = mode == "sparse" ? 0 : 0.9;
  torch::optim::SGD optimizer(model->parameters(),
                              torch::optim::SGDOptions(0.05).momentum(momentum));
  for (int step = 0; step < 5; ++step) {
    ddp::zero_grad(optimizer);
    if (mode == "no_sync") {
      const auto guard = model.no_sync();
      train(model, 10 + step, mode);
    }
    train(model, step, mode);
    optimizer.step();
  }
  show_state(model, mode);
  show_buckets(model, mode);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ddp::init_process_group({.backend = "gloo"});
    for (int i = 1; i < argc; ++i) run(argv[i]);
    use_groups();
    ddp::destroy_process_group();
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
