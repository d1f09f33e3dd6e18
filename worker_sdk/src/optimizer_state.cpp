#include <ATen/Functions.h>
#include <c10/util/StringUtil.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <memory>
#include <optional>
#include <unordered_map>

#include "ddp/checkpoint.h"
#include "ddp/error.h"
#include "worker_sdk/src/checkpoint_file.h"
#include "worker_sdk/src/tensor_fit.h"

namespace ddp {
namespace {

using torch::optim::AdamOptions;
using torch::optim::AdamParamState;
using torch::optim::AdamWOptions;
using torch::optim::AdamWParamState;
using torch::optim::Optimizer;
using torch::optim::OptimizerOptions;
using torch::optim::OptimizerParamState;
using torch::optim::SGDOptions;
using torch::optim::SGDParamState;

using Names = std::unordered_map<const void*, std::string>;  // by the parameter's TensorImpl
using Problems = std::vector<std::string>;

Names names_of(const torch::nn::Module& module) {
  Names names;
  for (const auto& each : module.named_parameters()) {
    names.emplace(each->unsafeGetTensorImpl(), each.key());
  }
  return names;
}

[[noreturn]] void refuse_kind(const char* function) {
  throw Error(detail::rank_for_messages(),
              std::string(function) + ": expected SGD, Adam or AdamW, found another optimizer");
}

// --- what Python's optimizers have and LibTorch's do not

void add_switches(Dict& group, bool adam) {
  group["maximize"] = false;
  group["foreach"] = nullptr;
  if (adam) group["capturable"] = false;
  group["differentiable"] = false;
  group["fused"] = nullptr;
}

Dict pack(const SGDOptions& options) {
  Dict group{{"lr", options.lr()},
             {"momentum", options.momentum()},
             {"dampening", options.dampening()},
             {"weight_decay", options.weight_decay()},
             {"nesterov", options.nesterov()}};
  add_switches(group, false);
  return group;
}

template <class Options>
Dict pack_adam(const Options& options, bool decoupled) {
  const auto [beta1, beta2] = options.betas();
  Dict group{{"lr", options.lr()},
             {"betas", Tuple{{beta1, beta2}}},
             {"eps", options.eps()},
             {"weight_decay", options.weight_decay()},
             {"amsgrad", options.amsgrad()}};
  add_switches(group, true);
  group["decoupled_weight_decay"] = decoupled;
  return group;
}

Dict pack(const OptimizerOptions& options) {
  if (const auto* sgd = dynamic_cast<const SGDOptions*>(&options)) return pack(*sgd);
  if (const auto* adam = dynamic_cast<const AdamOptions*>(&options)) return pack_adam(*adam, false);
  if (const auto* adamw = dynamic_cast<const AdamWOptions*>(&options)) {
    return pack_adam(*adamw, true);
  }
  refuse_kind("optimizer_state");
}

template <class State>
Dict pack_adam_state(const State& state) {
  Dict dict{{"step", at::scalar_tensor(static_cast<double>(state.step()), at::kFloat)},
            {"exp_avg", state.exp_avg()},
            {"exp_avg_sq", state.exp_avg_sq()}};
  if (state.max_exp_avg_sq().defined()) dict["max_exp_avg_sq"] = state.max_exp_avg_sq();
  return dict;
}

Dict pack_state(const OptimizerParamState& state) {
  if (const auto* sgd = dynamic_cast<const SGDParamState*>(&state)) {
    return {{"momentum_buffer", sgd->momentum_buffer()}};
  }
  if (const auto* adam = dynamic_cast<const AdamParamState*>(&state)) return pack_adam_state(*adam);
  if (const auto* adamw = dynamic_cast<const AdamWParamState*>(&state)) {
    return pack_adam_state(*adamw);
  }
  refuse_kind("optimizer_state");
}

Dict pack_optimizer(const Optimizer& optimizer, const Names* names) {
  Dict state;
  List groups;
  std::int64_t index = 0;
  for (const auto& group : optimizer.param_groups()) {
    Dict packed = pack(group.options());
    List indices, group_names;
    for (const at::Tensor& parameter : group.params()) {
      const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
      if (found != optimizer.state().end()) state[index] = pack_state(*found->second);
      indices.emplace_back(index++);
      if (names == nullptr) continue;
      const auto name = names->find(parameter.unsafeGetTensorImpl());
      if (name == names->end()) {
        throw Error(detail::rank_for_messages(),
                    "optimizer_state: parameter " + std::to_string(index - 1) +
                        " of the optimizer does not belong to the module");
      }
      group_names.emplace_back(name->second);
    }
    packed["params"] = std::move(indices);
    if (names != nullptr) packed["param_names"] = std::move(group_names);
    groups.emplace_back(std::move(packed));
  }
  return {{"state", std::move(state)}, {"param_groups", std::move(groups)}};
}

// --- reading

// Reads members of one dict of the file and collects what is wrong with them.
class Members {
 public:
  Members(const Dict& dict, std::string where, Problems& problems)
      : dict_(dict), where_(std::move(where)), problems_(problems) {}

  void wrong(const std::string& text) { problems_.push_back(where_ + text); }

  const Value* need(const char* name) {
    const Value* value = dict_.find(name);
    if (value == nullptr) wrong(std::string(" has no '") + name + "'");
    return value;
  }

  double number(const char* name) {
    const Value* value = need(name);
    if (value == nullptr) return 0;
    try {
      return value->to_double();
    } catch (const Error&) {
      wrong(std::string("['") + name + "'] is a " + value->type_name() + ", expected a float");
      return 0;
    }
  }

  bool flag(const char* name) {
    const Value* value = need(name);
    if (value == nullptr || value->is_bool()) return value != nullptr && value->to_bool();
    wrong(std::string("['") + name + "'] is a " + value->type_name() + ", expected a bool");
    return false;
  }

  // Options without a counterpart here, which would change the results.
  void must_not_be(const char* name, bool refused, const char* why) {
    const Value* value = dict_.find(name);
    if (value != nullptr && value->is_bool() && value->to_bool() == refused) {
      wrong(std::string("['") + name + "'] is " + (refused ? "True" : "False") + ": " + why);
    }
  }

  // A copy as the parameter is, so that it is independent of the file's. Undefined for None.
  at::Tensor tensor_like(const char* name, const at::Tensor& parameter, bool optional = false) {
    const Value* value = optional ? dict_.find(name) : need(name);
    if (value == nullptr || value->is_none()) return {};
    const bool tensor = value->is_tensor() && value->tensor().defined();
    const std::string why =
        tensor ? detail::misfit(parameter, value->tensor())
               : c10::str("is a ", value->type_name(), ", expected a Tensor ", parameter.sizes());
    if (!why.empty()) {
      wrong(c10::str("['", name, "'] ", why));
      return {};
    }
    return value->tensor().detach().to(parameter.options().requires_grad(false), false,
                                       /*copy=*/true);
  }

 private:
  const Dict& dict_;
  std::string where_;
  Problems& problems_;
};

std::unique_ptr<OptimizerOptions> unpack(const SGDOptions&, Members& group) {
  auto options = std::make_unique<SGDOptions>(group.number("lr"));
  options->momentum(group.number("momentum"));
  options->dampening(group.number("dampening"));
  options->weight_decay(group.number("weight_decay"));
  options->nesterov(group.flag("nesterov"));
  return options;
}

template <class Options>
std::unique_ptr<OptimizerOptions> unpack_adam(Members& group, bool decoupled) {
  auto options = std::make_unique<Options>(group.number("lr"));
  options->eps(group.number("eps"));
  options->weight_decay(group.number("weight_decay"));
  options->amsgrad(group.flag("amsgrad"));
  const Value* betas = group.need("betas");
  const bool pair = betas != nullptr && ((betas->is_tuple() && betas->tuple().size() == 2) ||
                                         (betas->is_list() && betas->list().size() == 2));
  const auto is_number = [](const Value& value) { return value.is_double() || value.is_int(); };
  const auto* two = !pair ? nullptr : betas->is_tuple() ? &betas->tuple() : &betas->list();
  if (two != nullptr && is_number((*two)[0]) && is_number((*two)[1])) {
    options->betas({(*two)[0].to_double(), (*two)[1].to_double()});
  } else if (betas != nullptr) {
    group.wrong("['betas'] is not two numbers");
  }
  group.must_not_be(
      "decoupled_weight_decay", !decoupled,
      decoupled ? "it is Adam's, expected AdamW's" : "it is AdamW's, expected Adam's");
  return options;
}

std::unique_ptr<OptimizerOptions> unpack(const OptimizerOptions& kind, Members& group) {
  group.must_not_be("maximize", true, "LibTorch's optimizers only minimize");
  if (const auto* sgd = dynamic_cast<const SGDOptions*>(&kind)) return unpack(*sgd, group);
  if (dynamic_cast<const AdamOptions*>(&kind)) return unpack_adam<AdamOptions>(group, false);
  if (dynamic_cast<const AdamWOptions*>(&kind)) return unpack_adam<AdamWOptions>(group, true);
  refuse_kind("load_optimizer_state");
}

template <class State>
std::unique_ptr<OptimizerParamState> unpack_adam_state(Members& members,
                                                       const at::Tensor& parameter, bool amsgrad) {
  auto state = std::make_unique<State>();
  const double step = members.number("step");
  if (step >= 0 && step < 9e15) {
    state->step(static_cast<std::int64_t>(step));
  } else {
    members.wrong("['step'] is " + std::to_string(step) + ", expected a number of steps");
  }
  state->exp_avg(members.tensor_like("exp_avg", parameter));
  state->exp_avg_sq(members.tensor_like("exp_avg_sq", parameter));
  state->max_exp_avg_sq(members.tensor_like("max_exp_avg_sq", parameter, !amsgrad));
  return state;
}

// Null where SGD has no momentum yet.
std::unique_ptr<OptimizerParamState> unpack_state(const OptimizerOptions& options, Members& members,
                                                  const at::Tensor& parameter) {
  if (const auto* adam = dynamic_cast<const AdamOptions*>(&options)) {
    return unpack_adam_state<AdamParamState>(members, parameter, adam->amsgrad());
  }
  if (const auto* adamw = dynamic_cast<const AdamWOptions*>(&options)) {
    return unpack_adam_state<AdamWParamState>(members, parameter, adamw->amsgrad());
  }
  auto state = std::make_unique<SGDParamState>();
  state->momentum_buffer(members.tensor_like("momentum_buffer", parameter, /*optional=*/true));
  if (!state->momentum_buffer().defined()) return nullptr;
  return state;
}

// What an optimizer will get once everything has been found to fit.
struct Prepared {
  std::vector<std::unique_ptr<OptimizerOptions>> options;  // of each group
  std::vector<std::pair<void*, std::unique_ptr<OptimizerParamState>>> states;
};

class Loading {
 public:
  Loading(const Optimizer& optimizer, const Dict& dict, const Names* names)
      : optimizer_(optimizer), dict_(dict), names_(names) {}

  Prepared run() {
    const Value* groups = dict_.find("param_groups");
    const Value* state = dict_.find("state");
    if (groups == nullptr || !groups->is_list() || state == nullptr || !state->is_dict()) {
      problems_.push_back("expected a dict with 'state' and 'param_groups'");
    } else if (groups->list().size() != optimizer_.param_groups().size()) {
      problems_.push_back("it has " + std::to_string(groups->list().size()) +
                          " groups of parameters, expected " +
                          std::to_string(optimizer_.param_groups().size()));
    } else {
      for (std::size_t i = 0; i < groups->list().size(); ++i) {
        load_group(i, groups->list()[i], state->dict());
      }
    }
    if (!problems_.empty()) {
      std::string text = "load_optimizer_state: the state does not fit the optimizer";
      for (const std::string& each : problems_)
        text += (&each == &problems_[0] ? ": " : "; ") + each;
      throw Error(detail::rank_for_messages(), text);
    }
    return std::move(prepared_);
  }

 private:
  void load_group(std::size_t index, const Value& value, const Dict& states) {
    const std::string where = "param_groups[" + std::to_string(index) + "]";
    if (!value.is_dict()) return problems_.push_back(where + " is no dict");
    const auto& group = optimizer_.param_groups()[index];
    Members members(value.dict(), where, problems_);
    prepared_.options.push_back(unpack(group.options(), members));
    const auto order = order_of(value.dict(), members, group.params());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Value* state = states.find(order[i]);
      if (state != nullptr) load_state(order[i], *state, group.params()[i]);
    }
  }

  void load_state(const Key& key, const Value& value, const at::Tensor& parameter) {
    const std::string where = "state[" + key.repr() + "]";
    if (!value.is_dict()) return problems_.push_back(where + " is no dict");
    Members members(value.dict(), where, problems_);
    auto state = unpack_state(*prepared_.options.back(), members, parameter);
    if (state) prepared_.states.emplace_back(parameter.unsafeGetTensorImpl(), std::move(state));
  }

  // For each parameter its key in "state". Empty if something is wrong.
  std::vector<Key> order_of(const Dict& group, Members& members,
                            const std::vector<at::Tensor>& parameters) {
    const Value* indices = members.need("params");
    if (indices == nullptr) return {};
    std::vector<Key> keys;
    for (const Value& each : indices->is_list() ? indices->list() : List()) {
      if (each.is_int()) keys.emplace_back(each.to_int());
    }
    if (!indices->is_list() || keys.size() != parameters.size() ||
        keys.size() != indices->list().size()) {
      members.wrong("['params'] has " + std::to_string(keys.size()) + " indices, expected " +
                    std::to_string(parameters.size()));
      return {};
    }
    const Value* file_names = group.find("param_names");
    if (names_ == nullptr || file_names == nullptr || !file_names->is_list()) return keys;
    return by_name(file_names->list(), keys, members, parameters);
  }

  std::vector<Key> by_name(const List& file_names, const std::vector<Key>& keys, Members& members,
                           const std::vector<at::Tensor>& parameters) {
    Dict places;  // index in `keys` by name
    for (const Value& each : file_names) {
      if (each.is_string() && places.size() < keys.size()) places[each.str()] = places.size();
    }
    std::vector<Key> order;
    for (const at::Tensor& parameter : parameters) {
      const auto name = names_->find(parameter.unsafeGetTensorImpl());
      const Value* place = name == names_->end() ? nullptr : places.find(name->second);
      if (place == nullptr) {
        members.wrong("['param_names'] has no " + (name == names_->end()
                                                       ? "name for a parameter outside the module"
                                                       : "'" + name->second + "'"));
        return {};
      }
      order.push_back(keys[static_cast<std::size_t>(place->to_int())]);
    }
    return order;
  }

  const Optimizer& optimizer_;
  const Dict& dict_;
  const Names* names_;
  Problems problems_;
  Prepared prepared_;
};

void load(Optimizer& optimizer, const Dict& dict, const Names* names) {
  Prepared prepared = Loading(optimizer, dict, names).run();
  for (std::size_t i = 0; i < prepared.options.size(); ++i) {
    optimizer.param_groups()[i].set_options(std::move(prepared.options[i]));
  }
  optimizer.state().clear();
  for (auto& [parameter, state] : prepared.states) {
    optimizer.state()[parameter] = std::move(state);
  }
}

}  // namespace

Dict optimizer_state(const Optimizer& optimizer) {
  return pack_optimizer(optimizer, nullptr);
}

Dict optimizer_state(const Optimizer& optimizer, const torch::nn::Module& module) {
  const Names names = names_of(module);
  return pack_optimizer(optimizer, &names);
}

void load_optimizer_state(Optimizer& optimizer, const Dict& dict) {
  load(optimizer, dict, nullptr);
}

void load_optimizer_state(Optimizer& optimizer, const Dict& dict, const torch::nn::Module& module) {
  const Names names = names_of(module);
  load(optimizer, dict, &names);
}

}  // namespace ddp
