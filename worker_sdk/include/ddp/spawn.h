// Starts processes of this program that train together, without a launcher.
//
//   void train(int rank, const std::string& path, double learning_rate);
//   const ddp::SpawnWorker train_worker("train", train);  // at namespace scope
//
//   int main() {
//     ddp::run_if_spawned();  // first: a spawned process runs its worker here and ends
//     ddp::spawn(2, "train", "model.pt", 0.1);
//   }
//
// Each process executes this program anew, so nothing of the parent's memory is in it: no thread,
// no lock, no CUDA context. Like PyTorch's start method "spawn", the only one that CUDA allows.
#pragma once

#include <chrono>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ddp/export.h"
#include "ddp/spawn_value.h"

namespace ddp {

// For spawn.
struct SpawnOptions {
  int nprocs = 1;  // how many processes to start
  // How long the others have after SIGTERM, once one has failed, before they are killed.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
};

namespace detail {

// A worker as the registry keeps it.
struct WorkerEntry {
  // What is wrong with the arguments; empty: they fit.
  std::string (*problem_with)(const std::vector<SpawnValue>& arguments);
  void (*run)(void (*function)(), int rank, const std::vector<SpawnValue>& arguments);
  void (*function)();
};

DDP_API void register_worker(const std::string& name, const WorkerEntry& entry);
DDP_API void spawn(const SpawnOptions& options, const std::string& name,
                   const std::vector<SpawnValue>& arguments);

}  // namespace detail

// Gives a function the name by which spawn calls it. Make it at namespace scope: the new process
// must find it before main begins. Parameters behind the rank are std::string and arithmetic types.
// Two workers of one name are an error of spawn.
template <class... Parameters>
class SpawnWorker {
 public:
  // What a worker is: a function of its rank and the arguments of spawn.
  using Function = void (*)(int rank, Parameters...);

  // Registers `function` as `name`.
  SpawnWorker(const std::string& name, Function function) {
    detail::register_worker(name, {problem_with, run, reinterpret_cast<void (*)()>(function)});
  }

 private:
  using Arguments = std::tuple<std::remove_cvref_t<Parameters>...>;

  static std::string problem_with(const std::vector<detail::SpawnValue>& arguments) {
    return detail::problem_with<std::remove_cvref_t<Parameters>...>(arguments);
  }

  static void run(void (*function)(), int rank, const std::vector<detail::SpawnValue>& values) {
    call(reinterpret_cast<Function>(function), rank, values,
         std::index_sequence_for<Parameters...>());
  }

  template <std::size_t... I>
  static void call(Function function, int rank,
                   [[maybe_unused]] const std::vector<detail::SpawnValue>& values,
                   std::index_sequence<I...>) {
    Arguments arguments{
        detail::from_spawn_value<std::tuple_element_t<I, Arguments>>(values[I]).value()...};
    function(rank, std::forward<Parameters>(std::get<I>(arguments))...);
  }
};

// In a process that spawn has started: runs its worker and ends the process, with exit code 0, or 1
// if an exception left the worker. Anywhere else it does nothing. Call it first in main, before
// anything uses the command line, which is the parent's, or LibTorch.
DDP_API void run_if_spawned();

// Starts `nprocs` processes, calls the worker as name(rank, arguments...) in each, with ranks from
// 0, and returns when all have ended well. Blocks the calling thread, which may be any.
//
// The workers find in their environment what a launcher on one node sets: RANK, LOCAL_RANK,
// WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT of a store that this process hosts, on
// a port that the kernel chose. So init_process_group() joins them, and local_device()
// is cuda:LOCAL_RANK where there are GPUs. What a launcher told this process is taken out, but for
// DDPRUN_DEVICE=cpu and simulated GPUs. OMP_NUM_THREADS, if it is not set, is each one's share of
// the CPUs. stdin, stdout and stderr are the parent's.
//
// Arguments arrive exactly as they were given. An integer fits any parameter that can hold its
// value, a double fits float only if that is exact (write 0.1f for a float).
//
// Throws ddp::Error. Before anything is started: nprocs < 1, a name that is not registered, or
// twice, arguments that do not fit, a call inside a spawned worker (workers cannot spawn), a
// program that ignores SIGCHLD. After the first failure, when all the others have been stopped by
// SIGTERM and, after the grace time, SIGKILL: the rank that failed, in the text and as rank(), and
// how: the type and text of its exception, its signal or its exit code. A process that was killed
// or exited goes before one that threw, for others throw because it is gone.
//
// If this process dies, however it dies, the kernel kills the workers; not what they have started.
// PyTorch: torch.multiprocessing.spawn(fn, args, nprocs), join=True.
template <class... Arguments>
void spawn(const SpawnOptions& options, const std::string& name, const Arguments&... arguments) {
  detail::spawn(options, name, {detail::to_spawn_value(arguments)...});
}
template <class... Arguments>
void spawn(int nprocs, const std::string& name, const Arguments&... arguments) {
  detail::spawn({.nprocs = nprocs}, name, {detail::to_spawn_value(arguments)...});
}

}  // namespace ddp
