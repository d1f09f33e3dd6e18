// Reads and writes checkpoints, and trains on from one: what the Python scripts beside it ask for.
//
//   checkpoint copy IN OUT               a file of torch.save
//   checkpoint copy_safetensors IN OUT
//   checkpoint train KIND STEPS IN OUT   SGD, Adam or AdamW
//
// Exit code 3, with the text on stderr, if a ddp::Error is thrown.
#include "ddp/checkpoint.h"

#include <torch/torch.h>

#include <cstdio>
#include <memory>
#include <string>

#include "ddp/error.h"
#include "ddp/optim.h"

namespace {

struct NetImpl : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(6, 5));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(5));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(5, 3));

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::log_softmax(last(torch::relu(norm(first(x)))), 1);
  }
};
TORCH_MODULE(Net);

// Matrices in the first group, all others in the second.
std::vector<torch::optim::OptimizerParamGroup> groups_of(const Net& net) {
  std::vector<torch::Tensor> matrices, others;
  for (const auto& each : net->parameters()) (each.dim() > 1 ? matrices : others).push_back(each);
  return {torch::optim::OptimizerParamGroup(matrices), torch::optim::OptimizerParamGroup(others)};
}

// With other options than those of the file.
std::unique_ptr<torch::optim::Optimizer> optimizer_of(const std::string& kind, const Net& net) {
  if (kind == "Adam") return std::make_unique<ddp::optim::Adam>(groups_of(net));
  if (kind == "AdamW") return std::make_unique<ddp::optim::AdamW>(groups_of(net));
  return std::make_unique<torch::optim::SGD>(groups_of(net), torch::optim::SGDOptions(1));
}

void train(const std::string& kind, int steps, const std::string& in, const std::string& out) {
  ddp::Value checkpoint = ddp::load(in);
  Net net;
  const auto optimizer = optimizer_of(kind, net);
  ddp::load_state_dict(net, checkpoint["model"].dict());
  ddp::load_optimizer_state(*optimizer, checkpoint["optimizer"].dict(), net);
  auto step = checkpoint["step"].to_int();
  for (const auto end = step + steps; step < end; ++step) {
    torch::manual_seed(1000 + step);
    const auto input = torch::randn({8, 6}), target = torch::randint(3, {8}, torch::kLong);
    optimizer->zero_grad();
    torch::nll_loss(net->forward(input), target).backward();
    optimizer->step();
  }
  ddp::save(out, ddp::Dict{{"model", ddp::state_dict(net)},
                           {"optimizer", ddp::optimizer_state(*optimizer, net)},
                           {"step", step}});
}

void copy_safetensors(const std::string& in, const std::string& out) {
  std::map<std::string, std::string> metadata;
  const ddp::Dict tensors = ddp::load_safetensors(in, torch::kCPU, &metadata);
  ddp::save_safetensors(out, tensors, metadata);
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "copy" && argc == 4) {
      ddp::save(argv[3], ddp::load(argv[2]));
    } else if (what == "copy_safetensors" && argc == 4) {
      copy_safetensors(argv[2], argv[3]);
    } else if (what == "train" && argc == 6) {
      train(argv[2], std::stoi(argv[3]), argv[4], argv[5]);
    } else {
      return 2;
    }
    return 0;
  } catch (const ddp::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
