#include "tests/counts/counted.h"

// A name that is the same for every compiler.
extern "C" [[gnu::noinline]] void ddprun_counted(const std::function<void()>& work) {
  work();
  asm volatile("" ::: "memory");  // else the call becomes a jump, and callgrind sees no return
}

namespace ddprun::counts {

void counted(const std::function<void()>& work) {
  ddprun_counted(work);
}

std::span<const Workload> workloads() {
  static constexpr Workload kWorkloads[] = {
      {"store_set", "turns of 64 clients: SET", 200, run_store_set},
      {"store_get", "turns of 64 clients: GET", 200, run_store_get},
      {"store_add", "turns of 64 clients: ADD", 200, run_store_add},
      {"store_wait", "turns of 64 clients: WAIT, and a SET that wakes them", 200, run_store_wait},
      {"store_server", "turns of 64 clients through sockets: SET, GET, ADD, WAIT and wake", 100,
       run_store_server},
      {"roster_join", "agents that join one run", 1'000, run_roster_join},
      {"roster_failure", "agents that hear of a failure and begin anew", 1'000, run_roster_failure},
      {"output", "lines of 4 workers behind prefixes", 100'000, run_output},
      {"command_line", "command lines, each made a plan of 64 workers", 20, run_command_line},
      {"report", "reports of 64 workers, in words and as JSON", 20, run_report}};
  return kWorkloads;
}

}  // namespace ddprun::counts
