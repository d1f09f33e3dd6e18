// Checkpoints of a whole group of ranks.
#include <algorithm>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "ddp/checkpoint.h"
#include "ddp/collectives.h"
#include "ddp/device.h"
#include "worker_sdk/src/module_tensors.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"

namespace ddp {
namespace {

using detail::GroupState;

std::string without_rank(const std::string& text) {
  if (!text.starts_with("[rank ")) return text;
  const auto end = text.find("] ");
  return end == text.npos ? text : text.substr(end + 2);
}

// What each rank has to say. Here it is noticed if one has not called the function.
std::vector<std::string> exchanged(const std::string& mine, const GroupState& state,
                                   const ProcessGroup& group, const char* what) {
  try {
    return all_gather_string(mine, group);
  } catch (const Error& error) {
    throw Error(state.global_rank,
                std::string(what) + ": waiting for the other ranks, all of which must call it: " +
                    without_rank(error.what()),
                error.waited_for());
  }
}

// Calls `action`, then tells the others how it went. Throws on every rank if it failed on one.
template <class Action>
void together(const GroupState& state, const ProcessGroup& group, const char* what,
              Action&& action) {
  std::string reason;
  try {
    action();
  } catch (const std::exception& error) {
    reason = without_rank(error.what());
    if (reason.empty()) reason = "unknown";
  }
  const auto reasons = exchanged(reason, state, group, what);
  std::vector<int> failed;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (reasons[i].empty()) continue;
    failed.push_back(state.ranks[i]);
    if (failed.size() == 1) reason = reasons[i];
  }
  if (failed.empty()) return;
  throw Error(state.global_rank, std::string(what) + " failed on rank" +
                                     (failed.size() > 1 ? "s " : " ") + detail::rank_list(failed) +
                                     ": " + reason);
}

}  // namespace

void save_on_rank0(const std::string& path, const Value& value, const ProcessGroup& group) {
  const auto state = detail::resolve(group, "save_on_rank0");
  if (!state->is_member()) return;
  together(*state, group, "save_on_rank0", [&] {
    if (state->rank == 0) save(path, value);
  });
}

Value load_on_all(const std::string& path, const ProcessGroup& group) {
  return load_on_all(path, local_device(), group);
}

Value load_on_all(const std::string& path, c10::Device device, const ProcessGroup& group) {
  const auto state = detail::resolve(group, "load_on_all");
  Value value;
  if (!state->is_member()) return value;
  together(*state, group, "load_on_all", [&] { value = load(path, device); });
  return value;
}

void broadcast_parameters(const torch::nn::Module& module, int src, const ProcessGroup& group) {
  constexpr const char* kName = "broadcast_parameters";
  const auto state = detail::resolve(group, kName);
  if (!state->is_member()) return;
  const auto root = std::find(state->ranks.begin(), state->ranks.end(), src);
  if (root == state->ranks.end()) {
    throw Error(state->global_rank, std::string(kName) + ": rank " + std::to_string(src) +
                                        " does not belong to the group of ranks " +
                                        detail::rank_list(state->ranks));
  }
  detail::translated(state->global_rank, kName, [&] {
    const auto states = detail::module_states(module, /*with_buffers=*/true);
    c10d::broadcast_coalesced(state->group, states.tensors, detail::kBroadcastBytes,
                              static_cast<int>(root - state->ranks.begin()));
  });
}

}  // namespace ddp
