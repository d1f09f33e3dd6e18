// Checkpoints of a group of ranks. DDP_TEST_FILE names the file.
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

std::string file() {
  return std::getenv("DDP_TEST_FILE");
}

void say(const std::string& text) {
  std::cout << "rank " + std::to_string(rank()) + " " + text << std::endl;
}

// Each rank has a value of its own; rank 0's is what all read.
void save_and_load() {
  init_process_group();
  save_on_rank0(file(), Dict{{"from", rank()}, {"tensor", torch::full({2}, rank() + 0.5)}});
  const Value value = load_on_all(file());
  say("from " + std::to_string(value["from"].to_int()) + " tensor " +
      std::to_string(value["tensor"].tensor()[1].item<double>()));
  destroy_process_group();
}

// On rank 1 the file is not there.
void load_on_one() {
  init_process_group();
  save_on_rank0(file(), 1);
  load_on_all(rank() == 1 ? file() + ".none" : file());
}

// As a Python user may write it.
void save_on_one_only() {
  init_process_group({.timeout = std::chrono::seconds(20)});
  barrier();  // so that rank 1 does not end while rank 0 still joins
  if (rank() == 0) save_on_rank0(file(), 1);
  destroy_process_group();
}

// In a group of the last rank alone, that is its rank 0.
void save_in_a_group() {
  init_process_group();
  const int last = world_size() - 1;
  const ProcessGroup group = new_group({last});
  save_on_rank0(file(), rank(), group);
  barrier();
  say("read " + std::to_string(load(file()).to_int()));
  load_on_all(file(), group);
  destroy_process_group();
}

void send_parameters() {
  init_process_group();
  torch::manual_seed(rank());
  const torch::nn::BatchNorm1d net(4);
  net->weight.detach().uniform_();
  net->running_mean.fill_(rank());
  broadcast_parameters(net, 1);
  const auto sum = net->weight.sum() + net->running_mean.sum();
  say("sum " + std::to_string(sum.item<double>()));
  destroy_process_group();
}

// Of every tensor in it.
void print_bits(const std::string& name, const Value& value) {
  if (value.is_dict()) {
    for (const auto& [key, inner] : value.dict()) {
      print_bits(name + " " + (key.is_string() ? key.str() : std::to_string(key.number())), inner);
    }
  } else if (value.is_tensor()) {
    const auto plain = value.tensor().to(torch::kDouble).flatten();
    std::cout << name << std::hexfloat;
    for (std::int64_t i = 0; i < plain.numel(); ++i) std::cout << " " << plain[i].item<double>();
    std::cout << std::endl;
  }
}

// Trains from step DDP_TEST_FIRST to DDP_TEST_LAST, from the file if it does not begin at 0, saves,
// and prints every bit of the parameters and of the optimizer's state.
template <class MakeOptimizer>
void train(MakeOptimizer&& make_optimizer) {
  init_process_group();
  torch::set_num_threads(1);
  torch::manual_seed(7 + rank());
  const int first = std::atoi(std::getenv("DDP_TEST_FIRST"));
  const int last = std::atoi(std::getenv("DDP_TEST_LAST"));
  torch::nn::Sequential net(torch::nn::Linear(6, 8), torch::nn::BatchNorm1d(8),
                            torch::nn::Linear(8, 2));
  DistributedDataParallel<torch::nn::Sequential> model(net);
  const auto optimizer = make_optimizer(model->parameters());
  if (first > 0) {
    const Value checkpoint = load_on_all(file());
    load_state_dict(model, checkpoint["model"].dict());
    load_optimizer_state(*optimizer, checkpoint["optimizer"].dict(), model);
  }
  for (int step = first; step < last; ++step) {
    torch::manual_seed(100 * step + rank());
    optimizer->zero_grad();
    model->forward(torch::randn({5, 6})).square().mean().backward();
    optimizer->step();
  }
  save_on_rank0(file(), Dict{{"model", state_dict(model)},
                             {"optimizer", optimizer_state(*optimizer, model)}});
  const std::string own = "rank " + std::to_string(rank());
  print_bits(own, state_dict(model));
  print_bits(own, optimizer_state(*optimizer, model));
  destroy_process_group();
}

void train_sgd() {
  train([](const auto& parameters) {
    return std::make_unique<torch::optim::SGD>(parameters,
                                               torch::optim::SGDOptions(0.1).momentum(0.9));
  });
}

void train_adam() {
  train([](const auto& parameters) { return std::make_unique<optim::Adam>(parameters); });
}

void train_adamw() {
  train([](const auto& parameters) { return std::make_unique<optim::AdamW>(parameters); });
}

struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int fail(int, char**) {
  init_process_group();
  progress(1);
  if (rank() == 1) throw OwnError("rank 1 \"fails\"");
  barrier();
  return 0;
}

void record_failure() {
  std::exit(record(fail, 0, nullptr));
}

void record_anything() {
  std::exit(record([]() -> int { throw 42; }));
}

void record_libtorch() {
  std::exit(record([]() -> int { return torch::ones({2}).item<int>(); }));
}

void record_success() {
  std::exit(record([] { return 17; }));
}

}  // namespace

Scenarios checkpoint_scenarios() {
  return {{"save_and_load", save_and_load},
          {"load_on_one", load_on_one},
          {"save_on_one_only", save_on_one_only},
          {"save_in_a_group", save_in_a_group},
          {"send_parameters", send_parameters},
          {"train_sgd", train_sgd},
          {"train_adam", train_adam},
          {"train_adamw", train_adamw},
          {"record_failure", record_failure},
          {"record_anything", record_anything},
          {"record_libtorch", record_libtorch},
          {"record_success", record_success}};
}

}  // namespace ddp::test
