#include <utility>

#include "worker_sdk/src/collective_call.h"
#include "worker_sdk/src/comm_hook_adapter.h"
#include "worker_sdk/src/data_parallel_state.h"
#include "worker_sdk/src/module_tensors.h"
#include "worker_sdk/src/reducer_factory.h"
#include "worker_sdk/src/sync_batch_norm.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/uneven_inputs.h"
#include "worker_sdk/src/usable_device.h"

namespace ddp {
namespace detail {

namespace {

constexpr const char* kName = "DistributedDataParallel";

std::shared_ptr<GroupState> usable_group(const ProcessGroup& handle) {
  auto group = resolve(handle, kName);
  if (group->is_member()) return group;
  throw Error(group->global_rank,
              std::string(kName) +
                  ": this rank does not belong to process_group, whose ranks are " +
                  rank_list(group->ranks));
}

void check_module(const GroupState& group, const TrainableParameters& parameters,
                  const NamedTensors& states) {
  const std::string name = std::string(kName) + ": ";
  if (parameters.tensors.empty()) {
    throw Error(group.global_rank,
                name +
                    "no parameter of the module requires a gradient, so there is "
                    "nothing to average");
  }
  for (std::size_t i = 0; i < states.tensors.size(); ++i) {
    const c10::Device first = states.tensors[0].device(), other = states.tensors[i].device();
    if (first.type() == other.type()) continue;
    throw Error(group.global_rank,
                name + "the module lies on two kinds of devices: " + states.names[0] + " on " +
                    first.str() + ", " + states.names[i] + " on " + other.str());
  }
}

bool syncs_buffers_in_forward(const DistributedDataParallelOptions& options) {
  return options.forward_sync_buffers.value_or(options.broadcast_buffers);
}

// The Reducer writes down times and bucket sizes through it, and cannot do without.
std::shared_ptr<c10d::Logger> make_logger(const std::shared_ptr<c10d::Reducer>& reducer,
                                          torch::nn::Module& module,
                                          const DistributedDataParallelOptions& options) {
  auto logger = std::make_shared<c10d::Logger>(reducer);
  reducer->set_logger(logger);
  const bool one_gpu = options.device && options.device->is_cuda();
  const std::vector<int> ids =
      one_gpu ? std::vector<int>{options.device->index()} : std::vector<int>{};
  logger->set_construction_data_and_log(module.name(), ids, one_gpu ? ids[0] : -1,
                                        syncs_buffers_in_forward(options),
                                        has_sync_batch_norm(module), options.static_graph);
  if (options.static_graph) {
    reducer->set_static_graph();
    logger->set_static_graph();
  }
  return logger;
}

}  // namespace

DataParallelCore::DataParallelCore(std::shared_ptr<torch::nn::Module> module,
                                   const DistributedDataParallelOptions& options)
    : state_(std::make_unique<DataParallelState>()) {
  DataParallelState& s = *state_;
  s.group = usable_group(options.process_group);
  s.module = std::move(module);
  if (!s.module) {
    throw Error(s.group->global_rank,
                std::string(kName) + ": there is no module: the holder or pointer is empty");
  }
  s.options = options;
  s.sync_buffers_in_forward = syncs_buffers_in_forward(options);
  check_options(*s.group, options);
  translated(s.group->global_rank, kName, [&] {
    if (options.device) {
      require_usable(*options.device, kName);
      s.module->to(*options.device);
    }
    const TrainableParameters parameters = trainable_parameters(*s.module);
    const NamedTensors states = module_states(
        *s.module, options.forward_sync_buffers.has_value() || options.broadcast_buffers);
    check_module(*s.group, parameters, states);
    CollectiveCall(options.process_group, kName)
        .check_input(states.tensors[0], states.names[0], /*typed=*/false);
    s.device = states.tensors[0].device();
    s.parameter_names = parameters.names;
    s.sparse_parameter = first_sparse(parameters);
    if (options.init_sync) {
      verify_same_model(*s.group, parameters, states);
      c10d::broadcast_coalesced(s.group->group, states.tensors, kBroadcastBytes, 0);
    }
    s.reducer = make_reducer(*s.group, parameters, options);
    s.logger = make_logger(s.reducer, *s.module, options);
    s.sink = c10::make_intrusive<SinkState>();
    s.sink->reducer = s.reducer;
    s.sink->static_graph = options.static_graph;
  });
}

DataParallelCore::~DataParallelCore() = default;

void DataParallelCore::before_forward() {
  DataParallelState& s = *state_;
  const bool gradients = at::GradMode::is_enabled();
  const auto explain = [&s](const std::string& said) {
    return Reason{explain_unused(said, s.parameter_names, s.options.find_unused_parameters)};
  };
  const auto prepare = [&] {
    if (gradients && s.require_backward_grad_sync) {
      s.has_run = true;
      s.logger->set_runtime_stats_and_log();
      s.reducer->prepare_for_forward();
    }
    notify_join_context(s);
    if (gradients) s.reducer->rebuild_buckets();
    if (syncs_buffers(s)) broadcast_buffers(s, authoritative_rank(s));
    announce_backward_sync(s);
  };
  translated(s.group->global_rank, kName, prepare, explain);
}

bool DataParallelCore::wants_outputs() const {
  const DataParallelState& s = *state_;
  return s.options.static_graph ? !s.sink->delay_all_reduce_enqueued
                                : s.options.find_unused_parameters;
}

void DataParallelCore::after_forward(const std::vector<at::Tensor*>& outputs) {
  DataParallelState& s = *state_;
  s.require_forward_param_sync = at::GradMode::is_enabled() && s.require_backward_grad_sync;
  translated(s.group->global_rank, kName, [&] {
    if (s.require_forward_param_sync) {
      std::vector<at::Tensor> roots;
      if (s.options.find_unused_parameters && !s.options.static_graph) {
        for (const at::Tensor* output : outputs) {
          if (output->defined()) roots.push_back(*output);
        }
      }
      s.reducer->prepare_for_backward(roots);
    }
    if (wants_outputs()) pass_through_sink(s.sink, outputs);
  });
}

torch::OrderedDict<std::string, at::Tensor> DataParallelCore::named_parameters() const {
  return unique_parameters(*state_->module);
}

std::vector<at::Tensor> DataParallelCore::parameters() const {
  return named_parameters().values();
}

at::Tensor DataParallelCore::move_input(const at::Tensor& input) const {
  return state_->options.device && input.defined() ? input.to(*state_->options.device) : input;
}

std::map<std::string, std::string> DataParallelCore::logging_data() const {
  const at::DDPLoggingData data = state_->logger->get_ddp_logging_data();
  std::map<std::string, std::string> all = data.strs_map;
  for (const auto& [name, number] : data.ints_map) all[name] = std::to_string(number);
  return all;
}

void DataParallelCore::register_comm_hook(const CommHook& hook, const std::string& name) {
  constexpr const char* kWhat = "register_comm_hook";
  DataParallelState& s = *state_;
  const auto refuse = [&](const char* why) {
    throw Error(s.group->global_rank, std::string(kWhat) + ": " + why);
  };
  if (!hook) refuse("the hook is empty");
  if (s.has_comm_hook) refuse("there is a hook already, and it can only be called once");
  if (s.has_run) refuse("it must be called before the first forward");
  translated(s.group->global_rank, kWhat, [&] {
    const std::string known_as = name.empty() ? name_of(hook) : name;
    s.reducer->register_comm_hook(std::make_unique<CommHookAdapter>(hook, known_as, s.group));
    s.logger->set_comm_hook(known_as);
  });
  s.has_comm_hook = true;
}

void DataParallelCore::begin_join(const JoinOptions& options) {
  DataParallelState& s = *state_;
  if (options.enable) {
    check_can_join(s);
    s.logger->set_uneven_input_join();
  }
  s.join = options;
}

void DataParallelCore::finish_join() {
  DataParallelState& s = *state_;
  if (!s.join.enable) return;
  try {
    translated(s.group->global_rank, "join", [&] { shadow_others(s); });
  } catch (...) {
    leave_join_context(s);  // as the others do when they throw
    throw;
  }
  leave_join_context(s);
}

void DataParallelCore::abandon_join() {
  leave_join_context(*state_);
}

bool DataParallelCore::set_backward_grad_sync(bool on) {
  return std::exchange(state_->require_backward_grad_sync, on);
}

}  // namespace detail

NoSyncGuard::NoSyncGuard(std::shared_ptr<detail::DataParallelCore> core)
    : core_(std::move(core)), before_(core_->set_backward_grad_sync(false)) {}

NoSyncGuard::~NoSyncGuard() {
  core_->set_backward_grad_sync(before_);
}

}  // namespace ddp
