// Joining the other ranks of a job, and asking who and how many they are.
//
// Names, defaults and results are those of torch.distributed, and so are the keys in the store: C++
// and Python ranks of the same PyTorch release meet in one group.
//
// All functions belong to the thread that trains; they are not for several threads at once.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ddp/environment.h"
#include "ddp/error.h"
#include "ddp/export.h"

namespace ddp {

namespace detail {
struct GroupState;  // owns c10d's process group; src/group_state.h
}

// A handle of a group of ranks; copies mean the same group. The empty handle, `ProcessGroup{}`,
// means the default group wherever a group is asked for, as None does in Python.
// PyTorch: torch.distributed.ProcessGroup.
class DDP_API ProcessGroup {
 public:
  // The empty handle; the other is what the SDK makes of its own groups.
  ProcessGroup() = default;
  explicit ProcessGroup(std::shared_ptr<detail::GroupState> state) : state_(std::move(state)) {}

  // False for the empty handle.
  explicit operator bool() const { return state_ != nullptr; }

  // Whether this process belongs to the group. The empty handle counts as the default group.
  bool is_member() const;
  // This process's index in the group; -1 if it does not belong to it.
  int rank() const;
  // Number of ranks in the group; -1 if this process does not belong to it.
  int size() const;
  // Global ranks of the members, ascending: element i has rank i in the group.
  std::vector<int> ranks() const;

  // For the SDK itself.
  const std::shared_ptr<detail::GroupState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::GroupState> state_;
};

// How to join. Everything has a default: `init_process_group()` does what the launcher prepared.
// PyTorch: the arguments of torch.distributed.init_process_group.
struct InitOptions {
  // "gloo", "nccl", or "cpu:gloo,cuda:nccl": Gloo for tensors on the CPU and, where local_device()
  // is a GPU, NCCL for those on it. Empty: "nccl" if local_device() is a GPU, else "gloo".
  std::string backend = {};
  // "env://": RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
  // "tcp://HOST:PORT": rank 0 hosts the store there, under a launcher too unless it is the
  // launcher's own address.
  // "file:///PATH": through a file that all ranks can write, which must not exist before:
  // destroy_process_group removes it, but a job that was killed leaves it, and the next then waits
  // for ranks that are gone.
  // The last two may end with "?rank=R&world_size=W"; without it and the options below they take
  // RANK and WORLD_SIZE, where Python wants the arguments.
  std::string init_method = "env://";
  int rank = -1;        // replaces RANK if it is not negative
  int world_size = -1;  // replaces WORLD_SIZE if it is not negative
  // For every collective, and for each stage of joining: to reach the store, to connect the ranks,
  // to connect them again with TORCH_DISTRIBUTED_DEBUG=DETAIL, the barrier if there is one. Default
  // as in Python: Gloo 30 minutes, NCCL 10 minutes.
  std::optional<std::chrono::milliseconds> timeout = {};
  // With "nccl": makes the communicator at once on this GPU, cuda:K, instead of at the first
  // collective. Refused with "gloo", and so is another kind of device.
  std::optional<c10::Device> device_id = {};
  // Where local_device() is the CPU: glibc keeps up to 512 MiB that tensors gave back for the next
  // ones (mallopt), where by default it returns them to the system and pays for it in every step.
  // Up to a fifth of the step of a small model, for some more resident memory. Does nothing if
  // MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_ or GLIBC_TUNABLES is set. Not in PyTorch.
  bool keep_freed_memory = true;
  // Where all ranks run on one machine (LOCAL_WORLD_SIZE is the world size): added to the niceness
  // of Gloo's event thread. That thread asks the kernel again and again while another one writes,
  // and would take a CPU from ranks that compute: a quarter of the step of a small model, where no
  // CPU is idle. 0 leaves it alone: for a machine whose CPUs other programs keep busy, where it
  // would get little time. Not in PyTorch.
  int gloo_event_niceness = 10;
  // With Gloo: all_reduce of float and double tensors by SUM, and so DistributedDataParallel's
  // gradients, goes through memory that the ranks share, and not through sockets: half of the step
  // of a small model. Between two ranks the results are Gloo's, bit for bit; with more they are the
  // same on all ranks, but added up in another order. A difference in size, or float against
  // double, is an error here, and the end of another process is noticed within 20 ms. Each group
  // takes 2 MiB and a descriptor for each of its ranks, and a thread. All ranks must ask for it and
  // be on one machine, in one container; else the sockets are used, and rank 0 says why on stderr.
  // Not together with TORCH_GLOO_LAZY_INIT. Not in PyTorch.
  bool shared_memory = false;
};

// Joins the default group and returns when all ranks have come. With
// TORCHELASTIC_USE_AGENT_STORE=True (ddprun, torchrun) every rank connects to the launcher's store,
// otherwise rank 0 hosts one on MASTER_PORT. Under DDPRUN=1 stdout becomes line-buffered. SIGPIPE
// is ignored from now on, as in Python, unless the program has a handler: the end of another rank
// is an error here and not the end of this one. Must be the first use of LibTorch if the backend is
// "nccl".
//
// As in Python, TORCH_DISTRIBUTED_DEBUG=DETAIL compares every collective between the ranks before
// it runs, through a second Gloo group: a ddp::Error then says which ranks differ in what.
// TORCH_DIST_INIT_BARRIER=1 lets nobody leave this function or new_group before all ranks have
// come.
//
// Throws ddp::Error: all missing variables at once and how to start the program; a store that
// cannot be reached, with address, time and last reason; ranks that did not come, and those that
// did. Then there is no group. It may be called again with another store; in the one of before (a
// launcher's) the ranks find what the failed attempt left there: end the process, and let the
// launcher start all of them again.
// PyTorch: torch.distributed.init_process_group.
DDP_API void init_process_group(const InitOptions& options = {});
// The backend first, as in Python: init_process_group("gloo"). It replaces options.backend. (A
// template only because `{…}` would fit a text as well as the options.)
template <std::convertible_to<std::string> Backend>
void init_process_group(const Backend& backend, InitOptions options = {}) {
  options.backend = std::string(backend);
  init_process_group(options);
}

// Leaves the default group and all others; there is no way to leave one of those alone. With Gloo
// it waits for what has been begun, up to the time-out. Without it a process may still end at any
// time. Groups in use by a living DistributedDataParallel live as long as it does. Throws
// ddp::Error before init_process_group, and where NCCL fails to end; all groups have been left
// then, and it is the first failure. PyTorch: torch.distributed.destroy_process_group.
DDP_API void destroy_process_group();

// Whether this process has a default group.
// PyTorch: torch.distributed.is_initialized.
DDP_API bool is_initialized();

// This process's rank in `group`, -1 if it does not belong to it. Throws ddp::Error before
// init_process_group.
// PyTorch: torch.distributed.get_rank.
DDP_API int get_rank(const ProcessGroup& group = {});
// Number of ranks in `group`, -1 if this process does not belong to it. Throws like get_rank.
// PyTorch: torch.distributed.get_world_size.
DDP_API int get_world_size(const ProcessGroup& group = {});
inline int rank() {
  return get_rank();
}
inline int world_size() {
  return get_world_size();
}

// "gloo", "nccl" or, as it was given, "cpu:gloo,cuda:nccl". Throws like get_rank.
// PyTorch: torch.distributed.get_backend.
DDP_API std::string get_backend(const ProcessGroup& group = {});

// Makes a group of some ranks of the default group. Every rank of the job must call it, in the same
// order, members or not. `ranks` are global ranks in any order, without repetition; an empty list
// means all. Returns a handle whose is_member() is false on the other ranks. Throws ddp::Error on a
// rank that does not exist or is named twice, and if a member does not come. PyTorch:
// torch.distributed.new_group.
DDP_API ProcessGroup new_group(const std::vector<int>& ranks = {},
                               std::optional<std::chrono::milliseconds> timeout = std::nullopt);

}  // namespace ddp
