// The C++ rank of mixed_rank.py: the same model, optimizer and steps, with data of its own.
#include <ddp/ddp.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Net : torch::nn::Module {
  torch::nn::Sequential layers = register_module(
      "layers",
      torch::nn::Sequential(torch::nn::Linear(8, 16), torch::nn::ReLU(), torch::nn::Linear(16, 1)));
  torch::Tensor forward(const torch::Tensor& input) { return layers->forward(input); }
};

void print_sum(double sum) {
  std::printf("rank %d of %d in C++: sum |w| = %.17g\n", ddp::get_rank(), ddp::get_world_size(),
              sum);
}

// Without a model: with TORCH_DISTRIBUTED_DEBUG=DETAIL the DistributedDataParallel of Python 2.11
// crashes in its constructor.
void run_collectives() {
  ddp::init_process_group();
  const auto tensor = torch::full({2}, 1.0 + ddp::get_rank());
  ddp::all_reduce(tensor);
  const ddp::ProcessGroup group = ddp::new_group({0, 1});
  ddp::broadcast(tensor, 0, group);
  ddp::barrier();
  print_sum(tensor.sum().item<double>());
  if (std::getenv("MISMATCH")) ddp::all_reduce(torch::zeros({3}));
  ddp::destroy_process_group();
}

void run() {
  ddp::init_process_group();
  torch::manual_seed(100 + ddp::get_rank());
  ddp::DistributedDataParallel<Net> model(Net{});
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  for (int step = 0; step < 20; ++step) {
    const auto input = torch::randn({4, 8});
    optimizer.zero_grad();
    torch::mse_loss(model.forward(input), input.sum(1, /*keepdim=*/true)).backward();
    optimizer.step();
  }
  auto total = torch::zeros({}, torch::kDouble);
  for (const auto& parameter : model.parameters())
    total += parameter.detach().to(torch::kDouble).abs().sum();
  print_sum(total.item<double>());
  ddp::destroy_process_group();
}

}  // namespace

int main() {
  try {
    std::getenv("COLLECTIVES") ? run_collectives() : run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mixed_rank: %s\n", error.what());
    return 1;
  }
}
