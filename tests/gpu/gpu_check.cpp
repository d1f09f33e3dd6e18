// gpu_check WHAT cuda|cpu: one rank of a check that run.sh starts under ddprun. Prints what was
// found and ends with 0 if it is right, with 1 if not.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>

#include "ddp/ddp.h"

namespace {

bool on_cuda = false;

bool agree(const char* what, const torch::Tensor& found, const torch::Tensor& expected,
           double tolerance) {
  const double error = (found.cpu().to(torch::kDouble) - expected.cpu().to(torch::kDouble))
                           .abs()
                           .max()
                           .item<double>();
  const bool right = error <= tolerance;
  if (ddp::rank() == 0 || !right) {
    std::printf("%s: largest difference %.2g%s\n", what, error, right ? "" : ", WRONG");
  }
  return right;
}

bool check_device() {
  const auto device = ddp::local_device();
  const auto tensor = torch::ones({4}, device) + 1;
  std::printf("%s\n", ddp::describe_device().c_str());
  return device.is_cuda() == on_cuda && tensor.device() == device &&
         tensor.sum().item<double>() == 8;
}

bool check_collectives() {
  ddp::init_process_group();
  const int rank = ddp::rank(), size = ddp::world_size();
  if (rank == 0) {
    std::printf("%d ranks on %s with %s\n", size, ddp::describe_device().c_str(),
                ddp::get_backend().c_str());
  }
  const auto options = torch::TensorOptions(ddp::local_device());
  bool right = true;
  auto sum = torch::full({1000}, rank + 1.0, options);
  ddp::all_reduce(sum);
  right &= agree("all_reduce", sum, torch::full({1000}, size * (size + 1) / 2.0), 0);
  auto average = torch::full({3}, rank + 1.0, options);
  ddp::all_reduce(average, ddp::ReduceOp::AVG);
  right &= agree("all_reduce AVG", average, torch::full({3}, (size + 1) / 2.0), 1e-6);
  auto first = torch::full({5}, rank + 7.0, options);
  ddp::broadcast(first, 0);
  right &= agree("broadcast", first, torch::full({5}, 7.0), 0);
  auto all = torch::zeros({size}, options);
  ddp::all_gather_into_tensor(all, torch::full({1}, double(rank), options));
  right &= agree("all_gather_into_tensor", all, torch::arange(0, size, torch::kDouble), 0);
  const auto group = ddp::new_group();
  auto in_group = torch::ones({2}, options);
  ddp::all_reduce(in_group, ddp::ReduceOp::SUM, group);
  right &= agree("all_reduce in new_group", in_group, torch::full({2}, double(size)), 0);
  ddp::barrier();
  ddp::destroy_process_group();
  return right;
}

torch::nn::Sequential network() {
  torch::manual_seed(1);
  return torch::nn::Sequential(torch::nn::Linear(16, 64), torch::nn::Tanh(),
                               torch::nn::Linear(64, 64), torch::nn::Tanh(),
                               torch::nn::Linear(64, 4));
}

torch::Tensor weights(const torch::nn::Sequential& net) {
  std::vector<torch::Tensor> flat;
  for (const auto& each : net->parameters()) flat.push_back(each.detach().flatten().cpu());
  return torch::cat(flat);
}

// DDP over the ranks' shares of a batch is training on the whole batch, here done on the CPU.
bool check_ddp() {
  ddp::init_process_group();
  const int rank = ddp::rank(), size = ddp::world_size();
  auto net = network(), reference = network();
  torch::manual_seed(2);
  const auto x = torch::randn({8 * size, 16}), y = torch::randn({8 * size, 4});
  ddp::DistributedDataParallel<torch::nn::Sequential> model(net, {.device = ddp::local_device()});
  torch::optim::SGD optimizer(model->parameters(), 0.05);
  torch::optim::SGD reference_optimizer(reference->parameters(), 0.05);
  for (int step = 0; step < 20; ++step) {
    const auto share = [&](const torch::Tensor& whole) {
      return whole.slice(0, 8 * rank, 8 * (rank + 1)).to(ddp::local_device());
    };
    auto loss = torch::mse_loss(model->forward(share(x)), share(y));
    ddp::zero_grad(optimizer);
    loss.backward();
    optimizer.step();
    auto reference_loss = torch::mse_loss(reference->forward(x), y);
    reference_optimizer.zero_grad();
    reference_loss.backward();
    reference_optimizer.step();
  }
  const bool right = agree("weights after 20 steps, DDP against one process on the CPU",
                           weights(net), weights(reference), 1e-4);
  ddp::destroy_process_group();
  return right;
}

// A converted batch norm on the ranks' shares is a plain one on the whole batch, forward, backward
// and in its running statistics.
bool check_sync_batch_norm() {
  ddp::init_process_group();
  const int rank = ddp::rank(), size = ddp::world_size();
  torch::manual_seed(3);
  const auto x = torch::randn({4 * size, 3, 5, 5}), y = torch::randn({4 * size, 3, 5, 5});
  torch::nn::BatchNorm2d plain(3), joined(3);
  joined->to(ddp::local_device());
  ddp::convert_sync_batchnorm(*joined);
  const auto share = [&](const torch::Tensor& whole) {
    return whole.slice(0, 4 * rank, 4 * (rank + 1));
  };
  const auto gradient = [](torch::nn::BatchNorm2d& norm, torch::Tensor in,
                           const torch::Tensor& out) {
    in.requires_grad_(true);
    (norm(in) * out).sum().backward();
    return in.grad().cpu();
  };
  const auto device = ddp::local_device();
  const auto whole = gradient(plain, x.clone(), y);
  const auto part = gradient(joined, share(x).to(device).detach(), share(y).to(device));
  bool right = agree("gradient of the input, SyncBatchNorm", part, share(whole), 1e-4);
  right &=
      agree("running mean, SyncBatchNorm", joined->running_mean.cpu(), plain->running_mean, 1e-5);
  right &= agree("running var, SyncBatchNorm", joined->running_var.cpu(), plain->running_var, 1e-5);
  ddp::destroy_process_group();
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, bool (*)()> checks{{"device", check_device},
                                                 {"collectives", check_collectives},
                                                 {"ddp", check_ddp},
                                                 {"sync_batch_norm", check_sync_batch_norm}};
  const std::string what = argc > 1 ? argv[1] : "", where = argc > 2 ? argv[2] : "";
  if (!checks.contains(what) || (where != "cuda" && where != "cpu")) {
    std::fprintf(stderr, "usage: gpu_check device|collectives|ddp|sync_batch_norm cuda|cpu\n");
    return 2;
  }
  on_cuda = where == "cuda";
  if (on_cuda) {
    // NCCL refuses two ranks on one GPU unless they seem to be on different machines.
    const char* rank = std::getenv("RANK");
    setenv("NCCL_HOSTID", (std::string("ddprun-") + (rank ? rank : "0")).c_str(), 1);
    setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    setenv("NCCL_IB_DISABLE", "1", 0);
  }
  try {
    return checks.at(what)() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), error.what());
    return 1;
  }
}
