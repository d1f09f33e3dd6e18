#include <ATen/Functions.h>

#include <algorithm>

#include "ddp/checkpoint.h"
#include "ddp/error.h"
#include "worker_sdk/src/checkpoint_file.h"
#include "worker_sdk/src/tensor_fit.h"

namespace ddp {
namespace {

// Parameters, then buffers, then the same of each child: the order of Python.
void append(const torch::nn::Module& module, const std::string& prefix, Dict& dict) {
  const auto append_all = [&](const auto& named) {
    for (const auto& each : named) {
      if (each->defined()) dict[prefix + each.key()] = each->detach();
    }
  };
  append_all(module.named_parameters(/*recurse=*/false));
  append_all(module.named_buffers(/*recurse=*/false));
  for (const auto& child : module.named_children()) {
    append(**child, prefix + child.key() + ".", dict);
  }
}

bool all_begin_with(const Dict& dict, const std::string& prefix) {
  return !dict.empty() && std::all_of(dict.begin(), dict.end(), [&](const Dict::Item& item) {
    return item.first.is_string() && item.first.str().starts_with(prefix);
  });
}

Dict without_prefix(const Dict& dict, const std::string& prefix) {
  Dict result;
  for (const auto& [key, value] : dict) result[key.str().substr(prefix.size())] = value;
  return result;
}

std::string list(const char* title, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string text = std::string("; ") + title + ": ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
  return text;
}

// The tensor of the file for each of the module's, and all that hinders.
struct Matches {
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;  // to, from
  StateDictResult keys;
  std::vector<std::string> wrong;
};

Matches match(const Dict& own, const Dict& given) {
  Matches matches;
  for (const auto& [key, value] : own) {
    const Value* found = given.find(key);
    if (found == nullptr) {
      matches.keys.missing_keys.push_back(key.str());
    } else if (!found->is_tensor() || !found->tensor().defined()) {
      matches.wrong.push_back(key.repr() + " is a " + found->type_name() + ", expected a Tensor");
    } else if (const std::string why = detail::misfit(value.tensor(), found->tensor());
               !why.empty()) {
      matches.wrong.push_back(key.repr() + " " + why);
    } else {
      matches.copies.emplace_back(value.tensor(), found->tensor());
    }
  }
  for (const auto& [key, value] : given) {
    if (own.contains(key)) continue;
    matches.keys.unexpected_keys.push_back(key.is_string() ? key.str() : key.repr());
  }
  return matches;
}

}  // namespace

Dict state_dict(const torch::nn::Module& module, const std::string& prefix) {
  Dict dict;
  append(module, prefix, dict);
  return dict;
}

StateDictResult load_state_dict(torch::nn::Module& module, const Dict& dict, bool strict) {
  const std::string wrapper = "module.";
  const Dict own = state_dict(module);
  const bool wrapped = all_begin_with(dict, wrapper) && !all_begin_with(own, wrapper);
  Matches matches = match(own, wrapped ? without_prefix(dict, wrapper) : dict);
  const StateDictResult& keys = matches.keys;
  std::string wrong = list("of another form", matches.wrong);
  if (strict)
    wrong = list("missing", keys.missing_keys) + list("unexpected", keys.unexpected_keys) + wrong;
  if (!wrong.empty()) {
    throw Error(detail::rank_for_messages(),
                "load_state_dict: the state does not fit the module " + module.name() + wrong);
  }
  const at::NoGradGuard no_grad;
  for (auto& [to, from] : matches.copies) to.copy_(from);
  return matches.keys;
}

}  // namespace ddp
