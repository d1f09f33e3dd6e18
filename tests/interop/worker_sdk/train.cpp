// One rank that trains with the SDK and prints a check sum of every gradient: train CASE... The
// same as train.py does with Python's DDP.
#include <exception>
#include <memory>
#include <optional>

#include "tests/interop/worker_sdk/check_sum.h"
#include "tests/interop/worker_sdk/models.h"

namespace ddp::test {
namespace {

constexpr int64_t kShare = 8;  // samples of a rank

template <class Net>
void train(DistributedDataParallel<Net>& model, int step, const Case& test) {
  torch::manual_seed(1000 + step);
  const int64_t count = kShare * world_size(), first = kShare * rank();
  const auto images = torch::randn({count, 1, 28, 28}),
             labels = torch::randint(10, {count}, torch::kLong);
  const bool use_extra = test.has("find_unused") ? rank() == 1 : !test.has("static_graph");
  Net::loss(model, {images.slice(0, first, first + kShare), labels.slice(0, first, first + kShare),
                    use_extra})
      .backward();
  for (const auto& parameter : model->named_parameters()) {
    show(test.name + ": step " + std::to_string(step) + " gradient " + parameter.key(),
         parameter->grad());
  }
}

DistributedDataParallelOptions options(const Case& test) {
  DistributedDataParallelOptions chosen;
  chosen.find_unused_parameters = test.has("find_unused") || test.has("find_unused_anyway");
  chosen.static_graph = test.has("static_graph");
  chosen.gradient_as_bucket_view = test.has("bucket_view");
  chosen.init_sync = !test.has("no_init_sync");
  if (!test.has("default_buckets")) chosen.bucket_cap_mb = 0.004;
  if (test.has("cap_list")) {
    chosen.bucket_cap_mb.reset();
    chosen.bucket_cap_mb_list = {0.001, 0.005};
  }
  chosen.skip_all_reduce_unused_params = test.has("skip_unused");
  chosen.broadcast_buffers = !test.has("own_buffers");
  if (test.has("first_buffers")) chosen.forward_sync_buffers = false;
  chosen.batched_grad_copy = test.has("batched");
  chosen.lazy_bucket_allocation = test.has("lazy");
  return chosen;
}

using Optimizer = std::unique_ptr<torch::optim::Optimizer>;

Optimizer optimizer_for(const std::vector<torch::Tensor>& parameters, const Case& test) {
  using namespace torch::optim;
  if (test.has("adam")) {
    return std::make_unique<ddp::optim::Adam>(parameters, AdamOptions(0.003).weight_decay(0.01));
  }
  if (test.has("adamw")) {
    return std::make_unique<ddp::optim::AdamW>(parameters, AdamWOptions(0.003));
  }
  if (test.has("rmsprop")) return std::make_unique<RMSprop>(parameters, RMSpropOptions(0.003));
  if (test.has("adagrad")) return std::make_unique<Adagrad>(parameters, AdagradOptions(0.01));
  const double momentum = test.has("sparse") ? 0 : 0.9;
  return std::make_unique<SGD>(parameters, SGDOptions(0.05).momentum(momentum));
}

Future own_hook(GradBucket& bucket) {
  const double scale = bucket.is_last() ? 2 : 1,
               shift = 0.001 * (static_cast<double>(bucket.index()) + 1);
  return all_reduce(bucket.buffer() / world_size(), ReduceOp::SUM, {}, /*async_op=*/true)
      .get_future()
      .then([scale, shift](const torch::Tensor& sum) { return sum * scale + shift; });
}

template <class Model>
void register_hook(Model& model, const Case& test) {
  if (test.has("allreduce_hook")) model.register_comm_hook(allreduce_hook);
  if (test.has("fp16_hook")) model.register_comm_hook(fp16_compress_hook);
  if (test.has("fp16_builtin")) {
    model.register_comm_hook(fp16_compress_hook, "BuiltinCommHookType.FP16_COMPRESS");
  }
  if (test.has("bf16_hook")) model.register_comm_hook(bf16_compress_hook);
  if (test.has("own_hook")) model.register_comm_hook(own_hook, "own_hook");
  if (test.has("fp16_wrapper")) {
    model.register_comm_hook(fp16_compress_wrapper(own_hook),
                             "fp16_compress_wrapper.<locals>.fp16_compress_wrapper_hook");
  }
}

// In the order of Python's state_dict.
void show_state(const torch::nn::Module& net, const Case& test) {
  for (const auto& child : net.named_children()) {
    for (const auto& each : child->get()->named_parameters()) {
      show(test.name + ": final " + child.key() + "." + each.key(), *each);
    }
    for (const auto& each : child->get()->named_buffers()) {
      show(test.name + ": final " + child.key() + "." + each.key(), *each);
    }
  }
}

// Counts and choices; what is measured differs from run to run.
constexpr const char* kLogged[] = {"backend_name",
                                   "bucket_sizes",
                                   "rebuilt_bucket_sizes",
                                   "rebuilt_per_bucket_param_indices",
                                   "has_rebuilt_buckets",
                                   "broadcast_buffers",
                                   "bucket_cap_bytes",
                                   "can_set_static_graph",
                                   "comm_hook",
                                   "dtypes",
                                   "find_unused_parameters",
                                   "gradient_as_bucket_view",
                                   "initial_bucket_size_limits",
                                   "is_multi_device_module",
                                   "iteration",
                                   "join_uneven_inputs",
                                   "num_buckets_reduced",
                                   "num_iterations",
                                   "num_parameter_tensors",
                                   "rank",
                                   "static_graph",
                                   "total_parameter_size_bytes",
                                   "unused_parameter_size",
                                   "world_size"};

void show_logged(const std::map<std::string, std::string>& data, const Case& test) {
  std::string names;
  for (const auto& [name, value] : data) names += " " + name;
  print(test.name + ": logged names" + names);
  for (const char* name : kLogged) {
    const auto found = data.find(name);
    print(test.name + ": logged " + name + " " + (found == data.end() ? "nothing" : found->second));
  }
}

template <class Net>
void run(const Case& test) {
  torch::manual_seed(test.has("no_init_sync") ? 1 : 1 + rank());  // DDP makes the ranks equal
  auto net = std::make_shared<Net>(test);
  DistributedDataParallel<Net> model(net, options(test));
  register_hook(model, test);
  const Optimizer optimizer = optimizer_for(model->parameters(), test);
  const auto one_step = [&](int step) {
    zero_grad(*optimizer);
    if (test.has("no_sync")) {
      const auto guard = model.no_sync();
      train(model, 10 + step, test);
    }
    train(model, step, test);
    optimizer->step();
  };
  const bool joins = test.has("join_initial") || test.has("join_effective");
  {
    const auto guard =
        model.join({.divide_by_initial_world_size = test.has("join_initial"), .enable = joins});
    const int steps = joins ? 2 + rank() : 4;
    for (int step = 0; step < steps; ++step) one_step(step);
  }
  one_step(9);
  show_state(*net, test);
  show_logged(model.logging_data(), test);
}

void run(const Case& test) {
  if (test.model == "conv") return run<ConvNet>(test);
  if (test.model == "mlp") return run<Mlp>(test);
  if (test.model == "bag") return run<Bag>(test);
  if (test.model == "outputs") return run<Outputs>(test);
  if (test.model == "tied") return run<Tied>(test);
  if (test.model == "types") return run<TwoTypes>(test);
  throw std::invalid_argument("no such model: " + test.name);
}

void use_groups() {
  const int last = world_size() - 1;
  std::vector<int> ranks;
  for (int rank = last; rank >= 0; --rank) ranks.push_back(rank);
  const ProcessGroup group = new_group(ranks);
  const auto tensor = torch::arange(4.0) + rank();
  all_reduce(tensor, ReduceOp::SUM, group);
  show("group sum", tensor);
  const auto gathered = all_gather(tensor * (1 + rank()));
  broadcast(tensor, last);
  show("gathered", torch::cat(gathered));
  barrier();
}

}  // namespace
}  // namespace ddp::test

int main(int argc, char** argv) {
  try {
    ddp::init_process_group({.backend = "gloo"});
    for (int i = 1; i < argc; ++i) ddp::test::run(ddp::test::Case(argv[i]));
    ddp::test::use_groups();
    ddp::destroy_process_group();
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
