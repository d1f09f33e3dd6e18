#include "ddp/process_group.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "ddp/device.h"
#include "worker_sdk/src/backend_names.h"
#include "worker_sdk/src/broken_pipe.h"
#include "worker_sdk/src/cuda_plugin.h"
#include "worker_sdk/src/failure.h"
#include "worker_sdk/src/freed_memory.h"
#include "worker_sdk/src/group_factory.h"
#include "worker_sdk/src/init_barrier.h"
#include "worker_sdk/src/init_method.h"
#include "worker_sdk/src/join_marks.h"
#include "worker_sdk/src/store.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp {
namespace detail {
namespace {

constexpr std::chrono::minutes kGlooTimeout{30}, kNcclTimeout{10};

struct World {
  std::shared_ptr<GroupState> default_group;
  std::vector<std::shared_ptr<GroupState>> groups;  // all others of which this process is a member
  int next_name = 1;
  int destroyed = 0;  // default groups before this one, of ranks of this SDK alone
};

// Never destroyed: a process that ends without destroy_process_group must not wait in a destructor
// for a peer that is gone.
World& world() {
  static World& forever = *new World;
  return forever;
}

void check_options(const InitOptions& options, int rank) {
  if (world().default_group) throw Error(rank, "init_process_group: called a second time");
  if (options.timeout && options.timeout->count() <= 0) {
    throw Error(rank, "init_process_group: the timeout must be longer than zero");
  }
  if (options.gloo_event_niceness < 0 || options.gloo_event_niceness > 19) {
    throw Error(rank, "init_process_group: gloo_event_niceness is " +
                          std::to_string(options.gloo_event_niceness) + "; it must be 0 to 19");
  }
}

void check_device_id(const std::optional<c10::Device>& device_id, const std::string& backend,
                     bool nccl, int rank) {
  if (!device_id || (nccl && device_id->is_cuda() && device_id->has_index())) return;
  throw Error(rank, "init_process_group: device_id=" + device_id->str() + " with backend " +
                        backend + ": device_id is a GPU, cuda:K, for backend nccl only");
}

// NCCL needs CUDA, and CUDA must be loaded before LibTorch looks for it.
void require_nccl(int rank) {
  if (visible_gpu_count() == 0) {
    throw Error(rank, "init_process_group: backend nccl needs a GPU and none is visible; use gloo");
  }
  const std::string why_not = load_cuda();
  if (!why_not.empty()) throw Error(rank, "init_process_group: backend nccl: " + why_not);
  local_device();  // made current, for communicators are made on the current device
}

// Fills in the backend. `named` is what the options name, nothing where they leave the choice.
void choose_backend(GroupState& state, const InitOptions& options,
                    const std::optional<BackendNames>& named) {
  const bool gpu = !named && local_device().is_cuda();
  state.backend = named ? options.backend : (gpu ? "nccl" : "gloo");
  const BackendNames names = named.value_or(BackendNames{.gloo = !gpu, .nccl = gpu});
  check_device_id(options.device_id, state.backend, names.nccl, state.rank);
  state.gloo = names.gloo;
  // Beside Gloo the part for GPUs is there where there are any, so that one line suits all
  // machines.
  state.nccl = names.nccl && (!names.gloo || options.device_id || local_device().is_cuda());
  if (state.nccl) require_nccl(state.rank);
}

std::vector<int> first_integers(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// A launcher's store outlives the group, and with it the addresses that Gloo left there. Python has
// the same prefix for every group, so the first one has it here.
std::string prefix_of_default_group() {
  const int before = world().destroyed;
  return "default_pg" + (before == 0 ? "" : "/after/" + std::to_string(before));
}

// What only a rank that has connected to all others can know; throws if they contradict each other.
void learn_about_ranks(GroupState& all) {
  translated(all.rank, "init_process_group: reading the store", [&] {
    all.only_sdk_ranks = all_have_join_marks(*all.store, all);
    const std::string problem = all.only_sdk_ranks ? contradiction(*all.store, all) : "";
    if (!problem.empty()) throw Error(all.rank, "init_process_group: " + problem);
  });
}

// Sorted; throws unless they are ranks of the default group, each once.
std::vector<int> checked_ranks(std::vector<int> ranks, const GroupState& all) {
  if (ranks.empty()) return all.ranks;
  std::sort(ranks.begin(), ranks.end());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::string name = "new_group: rank " + std::to_string(ranks[i]);
    if (ranks[i] < 0 || ranks[i] >= all.size()) {
      throw Error(all.global_rank,
                  name + " does not exist; there are ranks 0 to " + std::to_string(all.size() - 1));
    }
    if (i > 0 && ranks[i] == ranks[i - 1]) throw Error(all.global_rank, name + " is named twice");
  }
  return ranks;
}

void shut_down(const GroupState& group) {
  if (!group.nccl_backend) return;
  translated(group.global_rank, "destroy_process_group",
             [&] { shut_down_nccl_backend(group.nccl_backend); });
}

}  // namespace

std::shared_ptr<GroupState> resolve(const ProcessGroup& group, const char* what) {
  if (group) return group.state();
  if (world().default_group) return world().default_group;
  throw Error(
      rank_if_known(process_environment()),
      std::string(what) + ": there is no process group; call ddp::init_process_group() first");
}

}  // namespace detail

using detail::GroupState;

bool ProcessGroup::is_member() const {
  return detail::resolve(*this, "is_member")->is_member();
}
int ProcessGroup::rank() const {
  return detail::resolve(*this, "rank")->rank;
}
int ProcessGroup::size() const {
  const auto state = detail::resolve(*this, "size");
  return state->is_member() ? state->size() : -1;
}
std::vector<int> ProcessGroup::ranks() const {
  return detail::resolve(*this, "ranks")->ranks;
}

void init_process_group(const InitOptions& options) {
  const detail::Lookup lookup = detail::process_environment();
  if (lookup("DDPRUN") == "1") std::setvbuf(stdout, nullptr, _IOLBF, 0);
  // Gloo writes to its sockets without MSG_NOSIGNAL.
  detail::ignore_broken_pipes();
  detail::report_uncaught_exceptions();
  const int maybe_rank = options.rank >= 0 ? options.rank : detail::rank_if_known(lookup);
  detail::check_options(options, maybe_rank);
  detail::read_debug_level(maybe_rank);
  const bool barrier = detail::wants_init_barrier();
  std::optional<detail::BackendNames> named;
  if (!options.backend.empty()) named = detail::parse_backend(options.backend, maybe_rank);
  const auto environment =
      detail::read_worker_environment(lookup, options.rank, options.world_size,
                                      detail::parse_init_method(options.init_method, maybe_rank));

  auto state = std::make_shared<GroupState>();
  state->name = "0";
  state->ranks = detail::first_integers(environment.world_size);
  state->rank = state->global_rank = environment.rank;
  detail::choose_backend(*state, options, named);
  if (local_world_size() == state->size()) state->gloo_event_niceness = options.gloo_event_niceness;
  state->shared_memory = options.shared_memory;
  if (options.keep_freed_memory && local_device().is_cpu()) detail::keep_freed_memory(lookup);
  state->timeout =
      options.timeout.value_or(state->gloo ? detail::kGlooTimeout : detail::kNcclTimeout);
  const auto store = c10::make_intrusive<c10d::PrefixStore>(
      detail::prefix_of_default_group(), detail::open_store(environment, state->timeout));
  detail::translated(state->rank, "init_process_group: writing to the store", [&] {
    c10d::PrefixStore below(state->name + "/", store);
    detail::set_join_mark(below, *state);
  });
  detail::connect_group(*state, store, options.device_id, "init_process_group");
  if (barrier) {
    detail::init_barrier(*store, state->name, state->size(), state->rank, state->timeout,
                         "init_process_group");
  }
  detail::learn_about_ranks(*state);
  // The store ends with rank 0 where that hosts it, and a slower rank may still be reading.
  if (state->only_sdk_ranks && !environment.agent_store) {
    detail::translated(state->rank, "init_process_group", [&] { state->group->barrier()->wait(); });
  }
  // Last, so that after a failure there is no group and it can be tried again.
  detail::world().default_group = state;
}

void destroy_process_group() {
  detail::resolve({}, "destroy_process_group");
  const int destroyed = detail::world().destroyed;
  detail::World ended = std::exchange(detail::world(), {});
  detail::world().destroyed = destroyed + (ended.default_group->only_sdk_ranks ? 1 : 0);
  ended.groups.push_back(ended.default_group);
  std::exception_ptr first;
  for (const auto& group : ended.groups) {
    try {
      detail::shut_down(*group);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

bool is_initialized() {
  return detail::world().default_group != nullptr;
}

int get_rank(const ProcessGroup& group) {
  return detail::resolve(group, "get_rank")->rank;
}

int get_world_size(const ProcessGroup& group) {
  const auto state = detail::resolve(group, "get_world_size");
  return state->is_member() ? state->size() : -1;
}

std::string get_backend(const ProcessGroup& group) {
  return detail::resolve(group, "get_backend")->backend;
}

ProcessGroup new_group(const std::vector<int>& ranks,
                       std::optional<std::chrono::milliseconds> timeout) {
  const auto all = detail::resolve({}, "new_group");
  if (timeout && timeout->count() <= 0)
    throw Error(all->global_rank, "new_group: the timeout must be longer than zero");
  auto state = std::make_shared<GroupState>();
  state->ranks = detail::checked_ranks(ranks, *all);
  // Counted on every rank, so that the next group has the same name everywhere.
  state->name = std::to_string(detail::world().next_name++);
  state->backend = all->backend;
  state->gloo = all->gloo;
  state->nccl = all->nccl;
  state->global_rank = all->rank;
  state->timeout = timeout.value_or(all->timeout);
  state->gloo_event_niceness = all->gloo_event_niceness;
  state->shared_memory = all->shared_memory;
  const auto self = std::find(state->ranks.begin(), state->ranks.end(), all->rank);
  const bool member = self != state->ranks.end();
  if (member) {
    state->rank = static_cast<int>(self - state->ranks.begin());
    detail::connect_group(*state, all->store, std::nullopt, "new_group");
  }
  if (detail::wants_init_barrier()) {  // of all ranks, as in Python
    detail::init_barrier(*all->store, state->name, all->size(), all->rank, state->timeout,
                         "new_group");
  }
  if (!member) return ProcessGroup(state);
  state->only_sdk_ranks = all->only_sdk_ranks || detail::translated(all->rank, "new_group", [&] {
                            return detail::all_have_join_marks(*all->store, *state);
                          });
  detail::world().groups.push_back(state);
  return ProcessGroup(state);
}

}  // namespace ddp
