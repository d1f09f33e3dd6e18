#include "worker_sdk/src/group_factory.h"

#include <torch/csrc/distributed/c10d/debug.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "worker_sdk/src/cuda_plugin.h"
#include "worker_sdk/src/gloo_backend.h"
#include "worker_sdk/src/join_marks.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"

namespace ddp::detail {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;
using StorePtr = c10::intrusive_ptr<c10d::Store>;
using BackendPtr = c10::intrusive_ptr<c10d::Backend>;

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
  std::string problem;
  try {
    came = members_that_came(state, device_store);
    if (state.name == "0") problem = contradiction(*state.store, state);
  } catch (const std::exception&) {
    // The store is gone as well: what Gloo said is all there is.
    came = state.ranks;
  }
  if (!problem.empty()) throw Error(state.global_rank, what + ": " + problem);
  const std::vector<int> missing = without(state.ranks, came);
  // This rank itself did not get so far that it could miss others.
  const bool own = std::find(missing.begin(), missing.end(), state.global_rank) != missing.end();
  if (missing.empty() || own) {
    rethrow_translated(state.global_rank, what + ": connecting the ranks",
                       [](const std::string& said) { return Reason{explain_gloo(said)}; });
  }
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  throw Error(state.global_rank,
              what + ": waited " + seconds(waited) + " for " + std::to_string(state.size()) +
                  " ranks. Came: " + rank_list(came) + ". Did not come: " + rank_list(missing) +
                  (state.name == "0"
                       ? ". Were they all started, and did one fail before it came here?"
                       : ". Did one fail before it came here, and do all ranks call new_group "
                         "equally often, in the same order and with the same ranks?"),
              missing);
}

Speaker speaker_of(const GroupState& state) {
  return {state.global_rank, state.peers};
}

c10::intrusive_ptr<c10d::Backend> make_gloo(const GroupState& state, const StorePtr& device_store,
                                            bool shared_memory, const std::string& what) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    return make_gloo_backend(device_store, {state.ranks, state.rank}, speaker_of(state),
                             {state.timeout, state.gloo_event_niceness, shared_memory});
  } catch (...) {
    explain_missing_ranks(state, device_store, what, begin);
  }
}

// With TORCH_DISTRIBUTED_DEBUG=DETAIL every collective is compared between the ranks first, through
// a second Gloo group, as Python does it and with its keys.
BackendPtr checked(const GroupState& state, BackendPtr backend, const StorePtr& device_store,
                   const std::string& what) {
  if (c10d::debug_level() != c10d::DebugLevel::Detail) return backend;
  const auto below =
      c10::make_intrusive<c10d::PrefixStore>("pg_wrapper:" + state.name, device_store);
  return make_checking_backend(std::move(backend), make_gloo(state, below, false, what),
                               speaker_of(state));
}

// c10d::Logger takes what is registered for "gloo" for a ProcessGroupGloo and reads its options; a
// checking backend is none and has none there. (Python's DDP crashes so in 2.11.)
class CheckedGroup : public c10d::ProcessGroup {
 public:
  using ProcessGroup::ProcessGroup;
  const std::string getBackendName() const override {
    const std::string name = ProcessGroup::getBackendName();
    return name == "gloo" ? "gloo, checked" : name;
  }
};

c10::intrusive_ptr<c10d::ProcessGroup> make_group(const GroupState& state) {
  if (c10d::debug_level() == c10d::DebugLevel::Detail)
    return c10::make_intrusive<CheckedGroup>(state.store, state.rank, state.size());
  return c10::make_intrusive<c10d::ProcessGroup>(state.store, state.rank, state.size());
}

}  // namespace

void read_debug_level(int rank) {
  const char* wish = std::getenv("TORCH_DISTRIBUTED_DEBUG");
  translated(rank, "init_process_group: TORCH_DISTRIBUTED_DEBUG=" + std::string(wish ? wish : ""),
             [] { c10d::setDebugLevelFromEnvironment(); });
}

void connect_group(GroupState& state, const StorePtr& parent,
                   const std::optional<c10::Device>& device_id, const std::string& what) {
  state.store = c10::make_intrusive<c10d::PrefixStore>(state.name + "/", parent);
  const auto cpu_store = c10::make_intrusive<c10d::PrefixStore>("cpu/", state.store);
  const auto cuda_store = c10::make_intrusive<c10d::PrefixStore>("cuda/", state.store);
  BackendPtr gloo, nccl;
  if (state.gloo) {
    const StorePtr& job_store = state.name == "0" ? state.store : parent;
    state.peers = std::make_shared<Peers>(state.store, job_store, state.ranks, state.global_rank);
    gloo = checked(state, make_gloo(state, cpu_store, state.shared_memory, what), cpu_store, what);
    translated(state.global_rank, what, [&] { state.peers->publish_own_sockets(); });
  }
  if (state.nccl) {
    state.nccl_backend = translated(state.global_rank, what, [&] {
      return make_nccl_backend(cuda_store, state.rank, state.size(), device_id, state.timeout,
                               state.name);
    });
    nccl = checked(state, state.nccl_backend, cuda_store, what);
  }
  state.group = make_group(state);
  if (nccl && device_id) state.group->setBoundDeviceId(device_id);
  state.group->setDefaultBackend(nccl ? BackendType::NCCL : BackendType::GLOO);
  if (nccl) state.group->setBackend(c10::DeviceType::CUDA, BackendType::NCCL, nccl);
  if (gloo) state.group->setBackend(c10::DeviceType::CPU, BackendType::GLOO, gloo);
  state.group->setGroupName(state.name);
}

}  // namespace ddp::detail
