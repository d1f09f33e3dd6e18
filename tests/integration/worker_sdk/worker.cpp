// The program that the tests start as ranks: worker SCENARIO. Exit code 3 means that a ddp::Error
// left the scenario, 4 any other exception.
#include <cstdio>
#include <exception>

#include "ddp/error.h"
#include "tests/integration/worker_sdk/scenarios.h"

int main(int argc, char** argv) {
  ddp::test::Scenarios all = ddp::test::collective_scenarios();
  all.merge(ddp::test::checkpoint_scenarios());
  all.merge(ddp::test::comm_hook_scenarios());
  all.merge(ddp::test::cuda_scenarios());
  all.merge(ddp::test::data_parallel_scenarios());
  all.merge(ddp::test::ddp_option_scenarios());
  all.merge(ddp::test::join_scenarios());
  all.merge(ddp::test::fault_scenarios());
  all.merge(ddp::test::shared_memory_scenarios());
  all.merge(ddp::test::sync_batch_norm_scenarios());
  all.merge(ddp::test::tensor_scenarios());
  const auto scenario = argc == 2 ? all.find(argv[1]) : all.end();
  if (scenario == all.end()) {
    std::fprintf(stderr, "usage: worker SCENARIO\n");
    return 2;
  }
  try {
    scenario->second();
    return 0;
  } catch (const ddp::Error& error) {
    std::fprintf(stderr, "ddp::Error: %s\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "other exception: %s\n", error.what());
    return 4;
  }
}
