#include "ddp/data_parallel.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "ddp/functional.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {
namespace {

int own_rank() {
  return rank_if_known(process_environment());
}

std::string replica_name(std::size_t index, const c10::Device& device) {
  return "data_parallel: replica " + std::to_string(index) + " on " + device.str();
}

void check_place(const torch::nn::Module& module, const c10::Device& device) {
  for (const auto& parameter : module.named_parameters()) {
    if (functional::detail::same_device(parameter.value().device(), device)) continue;
    throw Error(own_rank(), "data_parallel: the module must be on the first device, " +
                                device.str() + ", but its parameter " + parameter.key() +
                                " is on " + parameter.value().device().str());
  }
}

// clone() makes a module with weights of its own first, and random numbers for them.
class KeptGenerator {
 public:
  KeptGenerator() : generator_(at::detail::getDefaultCPUGenerator()) {
    const std::lock_guard lock(generator_.mutex());
    before_ = generator_.get_state();
  }
  ~KeptGenerator() {
    const std::lock_guard lock(generator_.mutex());
    generator_.set_state(before_);
  }
  KeptGenerator(const KeptGenerator&) = delete;
  KeptGenerator& operator=(const KeptGenerator&) = delete;

 private:
  at::Generator generator_;
  at::Tensor before_;
};

// Copied in place with gradients on, a parameter of the replica is no leaf any more but a result of
// the module's own parameter, so that backward() brings the gradient there.
void connect(const torch::nn::Module& module, torch::nn::Module& replica) {
  if (!at::GradMode::is_enabled()) return;
  const auto originals = module.named_parameters();
  for (auto& copy : replica.named_parameters()) {
    const at::Tensor& original = originals[copy.key()];
    copy.value().set_requires_grad(false);
    if (original.requires_grad()) copy.value().copy_(original);
  }
}

std::shared_ptr<torch::nn::Module> make_replica(const torch::nn::Module& module,
                                                const c10::Device& device) {
  const auto what = "data_parallel: a copy of the module " + module.name() + " for " + device.str();
  return translated(own_rank(), what, [&] {
    auto replica = module.clone(device);
    connect(module, *replica);
    return replica;
  });
}

// Divides the threads for the CPU among the replicas on it, in the threads that ask for it.
class ThreadShare {
 public:
  explicit ThreadShare(const std::vector<c10::Device>& devices)
      : all_(at::get_num_threads()),
        share_(std::max(1, all_ / std::max<int>(1, static_cast<int>(std::ranges::count_if(
                                                       devices, &c10::Device::is_cpu))))) {}
  // Back in the calling thread, and for threads to come.
  ~ThreadShare() { at::set_num_threads(all_); }
  ThreadShare(const ThreadShare&) = delete;
  ThreadShare& operator=(const ThreadShare&) = delete;

  void take() const { at::set_num_threads(share_); }

 private:
  int all_, share_;
};

struct Part {
  torch::nn::Module* module;
  at::Tensor input, output;
  std::exception_ptr error;
};

// The calling thread's, on which it has copied the part there.
c10::Stream current_stream(const Part& part) {
  const c10::Device device = part.input.device();
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

void compute(Part& part, const c10::Stream& stream, const ReplicaForward& forward) {
  try {
    const c10::StreamGuard device_and_stream(stream);
    part.output = forward(*part.module, part.input);
  } catch (...) {
    part.error = std::current_exception();
  }
}

// The first part in this thread, each other in one of its own.
void compute_all(std::vector<Part>& parts, const ReplicaForward& forward,
                 const std::vector<c10::Device>& devices) {
  const ThreadShare threads(devices);
  const at::ThreadLocalState caller;
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    others.emplace_back([&, i, stream = current_stream(parts[i])] {
      const at::ThreadLocalStateGuard as_caller(caller);
      threads.take();
      compute(parts[i], stream, forward);
    });
  }
  if (!others.empty()) threads.take();
  compute(parts[0], current_stream(parts[0]), forward);
}

at::Tensor gather(const std::vector<Part>& parts, const c10::Device& device, std::int64_t dim) {
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto name = replica_name(i, parts[i].input.device());
    translated(own_rank(), name, [&] {
      if (parts[i].error) std::rethrow_exception(parts[i].error);
      if (!parts[i].output.defined()) throw std::runtime_error("its output is undefined");
      outputs.push_back(parts[i].output.to(device));
    });
  }
  return translated(own_rank(), "data_parallel: joining the outputs",
                    [&] { return at::cat(outputs, dim); });
}

}  // namespace

at::Tensor data_parallel(torch::nn::Module& module, const ReplicaForward& forward,
                         const at::Tensor& input, const std::vector<c10::Device>& devices,
                         std::optional<c10::Device> output_device, std::int64_t dim) {
  const auto inputs = functional::detail::scatter("data_parallel", input, devices, dim);
  check_place(module, devices[0]);
  std::vector<std::shared_ptr<torch::nn::Module>> replicas;
  std::vector<Part> parts{{&module, inputs[0], {}, {}}};
  if (inputs.size() > 1) {
    const KeptGenerator kept;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      replicas.push_back(make_replica(module, devices[i]));
      parts.push_back({replicas.back().get(), inputs[i], {}, {}});
    }
  }
  compute_all(parts, forward,
              {devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(parts.size())});
  return gather(parts, output_device.value_or(devices[0]), dim);
}

}  // namespace ddp::detail
