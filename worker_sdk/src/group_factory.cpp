#include "worker_sdk/src/group_factory.h"

#include <algorithm>
#include <iterator>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "worker_sdk/src/cuda_plugin.h"
#include "worker_sdk/src/gloo_backend.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"

namespace ddp::detail {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;
using StorePtr = c10::intrusive_ptr<c10d::Store>;

// The members that have put their address into the store, by the key that Gloo itself uses.
std::vector<int> members_that_came(const GroupState& state, const StorePtr& device_store) {
  std::vector<int> came;
  for (int member = 0; member < state.size(); ++member) {
    if (device_store->check({"0/" + std::to_string(member)})) {
      came.push_back(state.ranks[static_cast<std::size_t>(member)]);
    }
  }
  return came;
}

std::vector<int> without(const std::vector<int>& all, const std::vector<int>& some) {
  std::vector<int> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

// Called inside a catch block.
[[noreturn]] void explain_missing_ranks(const GroupState& state, const StorePtr& device_store,
                                        const std::string& what,
                                        std::chrono::steady_clock::time_point begin) {
  std::vector<int> came;
  try {
    came = members_that_came(state, device_store);
  } catch (const std::exception&) {
    // The store is gone as well: what Gloo said is all there is.
    came = state.ranks;
  }
  const std::vector<int> missing = without(state.ranks, came);
  if (missing.empty()) {
    rethrow_translated(state.global_rank, what + ": connecting the ranks", explain_gloo);
  }
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  throw Error(state.global_rank,
              what + ": waited " + seconds(waited) + " for " + std::to_string(state.size()) +
                  " ranks. Came: " + rank_list(came) + ". Did not come: " + rank_list(missing) +
                  ". Were they all started, and did one fail before it came here?");
}

c10::intrusive_ptr<c10d::Backend> make_gloo(const GroupState& state, const StorePtr& device_store,
                                            const std::string& what) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    return make_gloo_backend(device_store, state.rank, state.size(), state.global_rank,
                             state.timeout);
  } catch (...) {
    explain_missing_ranks(state, device_store, what, begin);
  }
}

}  // namespace

void connect_group(GroupState& state, const StorePtr& parent,
                   const std::optional<c10::Device>& device_id, const std::string& what) {
  state.store = c10::make_intrusive<c10d::PrefixStore>(state.name + "/", parent);
  c10::intrusive_ptr<c10d::Backend> gloo, nccl;
  if (state.gloo) {
    gloo = make_gloo(state, c10::make_intrusive<c10d::PrefixStore>("cpu/", state.store), what);
  }
  if (state.nccl) {
    nccl = translated(state.global_rank, what, [&] {
      return make_nccl_backend(c10::make_intrusive<c10d::PrefixStore>("cuda/", state.store),
                               state.rank, state.size(), device_id, state.timeout, state.name);
    });
  }
  state.group = c10::make_intrusive<c10d::ProcessGroup>(state.store, state.rank, state.size());
  if (nccl && device_id) state.group->setBoundDeviceId(device_id);
  state.group->setDefaultBackend(nccl ? BackendType::NCCL : BackendType::GLOO);
  if (nccl) state.group->setBackend(c10::DeviceType::CUDA, BackendType::NCCL, nccl);
  if (gloo) state.group->setBackend(c10::DeviceType::CPU, BackendType::GLOO, gloo);
  state.group->setGroupName(state.name);
}

}  // namespace ddp::detail
