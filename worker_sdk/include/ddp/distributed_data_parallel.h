// DistributedDataParallel: every rank computes on its own share of a batch, and the gradients are
// averaged over all ranks while loss.backward() still runs.
//
//   auto model = ddp::DistributedDataParallel<LeNet>(LeNet{}, {.device = ddp::local_device()});
//   torch::optim::SGD optimizer(model->parameters(), 0.1);
//   loss(model->forward(input), target).backward();
//
// Built on c10d::Reducer, the engine of Python's DistributedDataParallel: same buckets, same order,
// and with Gloo gradients that are bit-equal to Python's.
#pragma once

#include <c10/core/Device.h>
#include <torch/nn/module.h>

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ddp/comm_hook.h"
#include "ddp/export.h"
#include "ddp/join.h"
#include "ddp/module_output.h"
#include "ddp/process_group.h"

namespace ddp {

// PyTorch: the keyword arguments of torch.nn.parallel.DistributedDataParallel.
struct DistributedDataParallelOptions {
  // Where to compute: the module is moved there, and so is each argument of forward that is a
  // Tensor (those inside a vector or a struct are not). Without it module and inputs stay where
  // they are. (Python's device_ids moves the inputs only, and those in lists as well.)
  std::optional<c10::Device> device = {};
  // Rank 0's buffers overwrite those of the others at construction, and before each forward that
  // will be synchronized.
  bool broadcast_buffers = true;
  // Size of a bucket of gradients in MiB. Unset: 25, and a first bucket of 1 MiB, so that the first
  // transfer starts early. As in Python, a number given here is the size of the first one as well.
  std::optional<double> bucket_cap_mb = {};
  // Look in every forward for parameters that do not take part in the outputs. Needed if there are
  // any, otherwise the next forward throws; costs a walk over the graph.
  bool find_unused_parameters = false;
  // The same parameters are used in every iteration: unused ones are found once and then
  // remembered.
  bool static_graph = false;
  // Gradients are views into the buckets: saves their memory. Then clear them with
  // module().zero_grad() or ddp::zero_grad(optimizer), for Optimizer::zero_grad() throws on views.
  bool gradient_as_bucket_view = false;
  // The ranks that train together; empty means all.
  ProcessGroup process_group = {};
  // Compare the models of the ranks at construction and give them rank 0's values. False: they are
  // the same already, by the caller's word.
  bool init_sync = true;
  // If set, it decides about the buffers before each forward instead of broadcast_buffers; they are
  // then always sent at construction. Python has it since 2.13.
  std::optional<bool> forward_sync_buffers = {};
  // Sizes of the first buckets in MiB, one each; the last counts for all that follow. If not empty,
  // bucket_cap_mb does not count. Needs LibTorch 2.11.
  std::vector<double> bucket_cap_mb_list = {};
  // With find_unused_parameters: buckets of unused parameters alone are not sent. All ranks must
  // leave out the same ones in every iteration, else they hang. Not with join(). Needs
  // LibTorch 2.8.
  bool skip_all_reduce_unused_params = false;
  // Copy the gradients of a bucket in one operation instead of one for each. Needs LibTorch 2.12.
  bool batched_grad_copy = false;
  // Make buckets when their gradients come and drop them after backward: saves memory, costs time.
  // Needs LibTorch 2.15.
  bool lazy_bucket_allocation = false;
};

namespace detail {

struct DataParallelState;  // src/data_parallel_state.h

// The part of DistributedDataParallel that does not depend on the module's type. Owns the Reducer.
class DDP_API DataParallelCore {
 public:
  // Checks that all ranks have the same parameters, gives them rank 0's values, and hooks the
  // Reducer to their gradients. Throws ddp::Error if they differ: on every rank, with the first
  // difference in it, where all ranks use this SDK and Gloo; otherwise as c10d does, on the ranks
  // that differ from rank 0.
  DataParallelCore(std::shared_ptr<torch::nn::Module> module,
                   const DistributedDataParallelOptions& options);
  ~DataParallelCore();
  DataParallelCore(const DataParallelCore&) = delete;
  DataParallelCore& operator=(const DataParallelCore&) = delete;

  void before_forward();
  // Whether after_forward wants to see the tensors that forward returned.
  bool wants_outputs() const;
  void after_forward(const std::vector<at::Tensor*>& outputs);

  at::Tensor move_input(const at::Tensor& input) const;
  // Each tensor once, by its first name.
  std::vector<at::Tensor> parameters() const;
  torch::OrderedDict<std::string, at::Tensor> named_parameters() const;
  std::map<std::string, std::string> logging_data() const;

  void register_comm_hook(const CommHook& hook, const std::string& name);

  // Whether the next forward and backward average the gradients. Returns what it was before.
  bool set_backward_grad_sync(bool on);

  void begin_join(const JoinOptions& options);
  // This rank has no more inputs.
  void finish_join();
  // It has failed and will not answer the others.
  void abandon_join();

 private:
  std::unique_ptr<DataParallelState> state_;
};

// LeNet for the holder that TORCH_MODULE(LeNet) makes: LeNetImpl; any other module: itself.
template <class Module>
struct ModuleImpl {
  using type = Module;
};
template <class Module>
  requires requires { typename Module::ContainedType; }
struct ModuleImpl<Module> {
  using type = typename Module::ContainedType;
};

}  // namespace detail

// While it lives, backward() adds to the gradients of this rank without averaging them. The forward
// must be inside as well. The first synchronized backward afterwards averages the sums.
// PyTorch: DistributedDataParallel.no_sync().
class [[nodiscard]] DDP_API NoSyncGuard {
 public:
  // What no_sync() calls.
  explicit NoSyncGuard(std::shared_ptr<detail::DataParallelCore> core);
  ~NoSyncGuard();
  NoSyncGuard(const NoSyncGuard&) = delete;
  NoSyncGuard& operator=(const NoSyncGuard&) = delete;

 private:
  std::shared_ptr<detail::DataParallelCore> core_;
  bool before_;
};

// A module whose gradients are averaged over the ranks of a group. `Module` is a holder made by
// TORCH_MODULE, or a class derived from torch::nn::Module, held by shared_ptr or moved in.
//
// It behaves like LibTorch's module holders: copies mean the same module, and `->` reaches forward,
// parameters, train … of this wrapper; the wrapped module is module(). Names of parameters have no
// prefix. Construct it on every rank of the group, before the optimizer; afterwards parameters may
// not be replaced or moved. Errors are ddp::Error, those that leave backward() with Gloo only.
// One thread at a time may use it and call backward(); it makes none of its own.
// PyTorch: torch.nn.parallel.DistributedDataParallel.
template <class Module>
class DistributedDataParallel {
 public:
  // The class of the wrapped module, and the type of the options.
  using Impl = typename detail::ModuleImpl<Module>::type;
  using Options = DistributedDataParallelOptions;
  static_assert(
      std::derived_from<Impl, torch::nn::Module>,
      "DistributedDataParallel wraps a torch::nn::Module or a holder made by TORCH_MODULE");

  // Checks that all ranks have the same parameters and gives them rank 0's values: blocks until
  // every rank of the group has come here. Throws ddp::Error on every rank if the models differ,
  // and for an empty holder, a module without parameters that require a gradient, one on several
  // kinds of devices, options that contradict each other, and a rank outside process_group.
  explicit DistributedDataParallel(std::shared_ptr<Impl> module, const Options& options = {})
      : module_(std::move(module)),
        core_(std::make_shared<detail::DataParallelCore>(module_, options)) {}
  explicit DistributedDataParallel(Module module, const Options& options = {})
      : DistributedDataParallel(share(std::move(module)), options) {}

  // The module's own forward, with any number of inputs. Blocks while buffers are broadcast. Throws
  // ddp::Error if a peer is lost then, or if the last backward left parameters without a gradient,
  // which it names, and find_unused_parameters is off; what the module's own forward throws passes
  // as it is.
  template <class... Inputs>
  auto forward(Inputs&&... inputs) {
    core_->before_forward();
    auto output = module_->forward(on_device(std::forward<Inputs>(inputs))...);
    using Output = decltype(output);
    static_assert(
        detail::HoldsTensors<Output>,
        "DistributedDataParallel does not know where the tensors are in what forward returns: "
        "return a Tensor, tuple, pair, vector, array, optional or map of them, or write "
        "std::vector<at::Tensor*> ddp_tensors(YourType&) beside your type");
    std::vector<at::Tensor*> tensors;
    if (core_->wants_outputs()) detail::OutputTensors<Output>::append(output, tensors);
    core_->after_forward(tensors);
    return output;
  }

  // The same as forward.
  template <class... Inputs>
  auto operator()(Inputs&&... inputs) {
    return forward(std::forward<Inputs>(inputs)...);
  }

  // This wrapper: its forward, and not that of the module, is synchronized.
  DistributedDataParallel* operator->() { return this; }
  const DistributedDataParallel* operator->() const { return this; }

  // The wrapped module. Its own forward is not synchronized.
  Impl& module() { return *module_; }
  const Impl& module() const { return *module_; }
  const std::shared_ptr<Impl>& ptr() const { return module_; }

  // For the accumulation of gradients: see NoSyncGuard.
  NoSyncGuard no_sync() { return NoSyncGuard(core_); }

  // For ranks with different numbers of batches: see JoinGuard. Each rank calls it before its loop.
  JoinGuard join(const JoinOptions& options = {}) { return JoinGuard(core_, options); }

  // Replaces the averaging of gradients by `hook`; the same on every rank, once, and before the
  // first forward, else ddp::Error. `name` is for logging_data() and messages; empty: the function
  // name of a built-in hook, or "comm_hook".
  // PyTorch: DistributedDataParallel.register_comm_hook(state, hook).
  void register_comm_hook(const CommHook& hook, const std::string& name = {}) {
    core_->register_comm_hook(hook, name);
  }

  // What the Reducer counted and measured, by name: "bucket_sizes" and "rebuilt_bucket_sizes" in
  // bytes, "avg_backward_comm_time" in nanoseconds … A name that does not apply yet is left out.
  // PyTorch: DistributedDataParallel._get_ddp_logging_data(), there with numbers as numbers.
  std::map<std::string, std::string> logging_data() const { return core_->logging_data(); }

  // The functions of torch::nn::Module that a training needs, on the wrapped module. A parameter
  // that two layers share is listed once, as in Python, so that an optimizer does not take two
  // steps with it; LibTorch's own functions list it twice.
  std::vector<at::Tensor> parameters() const { return core_->parameters(); }
  torch::OrderedDict<std::string, at::Tensor> named_parameters() const {
    return core_->named_parameters();
  }
  std::vector<at::Tensor> buffers() const { return module_->buffers(); }
  auto named_buffers() const { return module_->named_buffers(); }
  void train(bool on = true) { module_->train(on); }
  void eval() { module_->eval(); }
  bool is_training() const { return module_->is_training(); }
  void zero_grad() { module_->zero_grad(); }

 private:
  static std::shared_ptr<Impl> share(Module module) {
    if constexpr (std::is_same_v<Module, Impl>) {
      return std::make_shared<Impl>(std::move(module));
    } else {
      return module.is_empty() ? nullptr : module.ptr();
    }
  }

  template <class Input>
  decltype(auto) on_device(Input&& input) const {
    if constexpr (std::is_same_v<std::remove_cvref_t<Input>, at::Tensor>) {
      return core_->move_input(input);
    } else {
      return std::forward<Input>(input);
    }
  }

  std::shared_ptr<Impl> module_;
  std::shared_ptr<detail::DataParallelCore> core_;
};

// So that the type of the module need not be written out.
template <class Impl>
DistributedDataParallel(std::shared_ptr<Impl>) -> DistributedDataParallel<Impl>;
template <class Impl>
DistributedDataParallel(std::shared_ptr<Impl>, DistributedDataParallelOptions)
    -> DistributedDataParallel<Impl>;

// Drops all gradients of the optimizer's parameters, also those that are views into buckets.
// PyTorch: optimizer.zero_grad().
template <class Optimizer>
void zero_grad(Optimizer& optimizer) {
  for (auto& group : optimizer.param_groups()) {
    for (auto& parameter : group.params()) parameter.mutable_grad().reset();
  }
}

}  // namespace ddp
