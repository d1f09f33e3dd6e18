// A rank that trains when it is told to:
//
//   train_worker [--shared-memory | --return-memory | --alone | --afterwards] MODEL SOCKET
//
// train_worker.py is its peer, and says what the two write to the socket. The first two are
// settings of InitOptions (shared_memory, and keep_freed_memory = false). Alone, it averages
// nothing with the others; afterwards, it averages all gradients in one piece when the backward
// pass has ended, so that nothing overlaps.
#include <ddp/ddp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/train/models.h"

namespace ddprun::bench {
namespace {

double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
  }
  throw std::runtime_error("no VmHWM in /proc/self/status");
}

// One stream for each direction: one for both would have to seek between them.
struct Connection {
  std::FILE* in;
  std::FILE* out;
};

Connection connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("cannot connect to " + path);
  }
  return {::fdopen(socket, "r"), ::fdopen(::dup(socket), "w")};
}

void average_gradients(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> pieces;
  for (const torch::Tensor& each : parameters) pieces.push_back(each.grad().flatten());
  torch::Tensor all = torch::cat(pieces);
  ddp::all_reduce(all);
  all /= ddp::world_size();
  std::int64_t begin = 0;
  for (const torch::Tensor& each : parameters) {
    each.mutable_grad().copy_(all.narrow(0, begin, each.numel()).view_as(each));
    begin += each.numel();
  }
}

// What the option says: whose gradients are averaged by DistributedDataParallel, and whether all
// ranks' are afterwards.
struct Averaging {
  ddp::ProcessGroup group;
  bool afterwards = false;
};

template <typename Net>
class Training {
 public:
  Training(std::int64_t batch, const Averaging& averaging)
      : model_(Net{}, {.process_group = averaging.group}),
        afterwards_(averaging.afterwards),
        optimizer_(model_->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9)),
        images_(torch::randn({batch, 1, 28, 28})),
        labels_(torch::randint(10, {batch}, torch::kLong)) {}

  void step() {
    optimizer_.zero_grad();
    torch::nll_loss(model_->forward(images_), labels_).backward();
    if (afterwards_) average_gradients(model_->parameters());
    optimizer_.step();
  }

 private:
  ddp::DistributedDataParallel<Net> model_;
  bool afterwards_;
  torch::optim::SGD optimizer_;
  torch::Tensor images_, labels_;
};

template <typename Net>
std::function<void()> steps_of(std::int64_t batch, const Averaging& averaging) {
  return [training = std::make_shared<Training<Net>>(batch, averaging)] { training->step(); };
}

std::function<void()> steps_of(const std::string& model, const Averaging& averaging) {
  if (model == "perceptron") return steps_of<Perceptron>(64, averaging);
  if (model == "lenet") return steps_of<LeNet>(64, averaging);
  if (model == "resnet18") return steps_of<ResNet18>(16, averaging);
  throw std::invalid_argument("unknown model " + model);
}

double milliseconds_of_a_step(const std::function<void()>& step, int steps) {
  using Clock = std::chrono::steady_clock;
  ddp::barrier();
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < steps; ++i) step();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count() / steps;
}

// The group of this rank alone; every rank makes all of them.
ddp::ProcessGroup group_of_one() {
  ddp::ProcessGroup own;
  for (int rank = 0; rank < ddp::world_size(); ++rank) {
    const ddp::ProcessGroup group = ddp::new_group({rank});
    if (group.is_member()) own = group;
  }
  return own;
}

Averaging averaging_of(const std::string& option) {
  if (option == "--alone") return {group_of_one()};
  if (option == "--afterwards") return {group_of_one(), true};
  return {};
}

int train(const std::string& option, const std::string& model, const std::string& socket) {
  at::set_num_threads(1);
  ddp::init_process_group({.backend = "gloo",
                           .keep_freed_memory = option != "--return-memory",
                           .shared_memory = option == "--shared-memory"});
  const std::function<void()> step = steps_of(model, averaging_of(option));
  step();
  const Connection connection = connect_to(socket);
  std::fputs("ready\n", connection.out);
  std::fflush(connection.out);
  for (int steps = 0; std::fscanf(connection.in, "%d", &steps) == 1;) {
    const double milliseconds = milliseconds_of_a_step(step, steps);
    std::fprintf(connection.out, "%.6f %.3f\n", milliseconds, peak_megabytes());
    std::fflush(connection.out);
  }
  ddp::destroy_process_group();
  return 0;
}

}  // namespace
}  // namespace ddprun::bench

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const std::string option = argc == 4 ? argv[1] : "";
  return ddp::record([&] { return ddprun::bench::train(option, argv[argc - 2], argv[argc - 1]); });
}
