// What the ranks of a test do. Each scenario prints "name value" lines that the test reads.
#pragma once

#include <map>
#include <string>

namespace ddp::test {

using Scenarios = std::map<std::string, void (*)()>;

Scenarios checkpoint_scenarios();
Scenarios collective_scenarios();
Scenarios comm_hook_scenarios();
Scenarios cuda_scenarios();
Scenarios data_parallel_scenarios();
Scenarios ddp_option_scenarios();
Scenarios join_scenarios();
Scenarios fault_scenarios();
Scenarios shared_memory_scenarios();
Scenarios sync_batch_norm_scenarios();
Scenarios tensor_scenarios();

// What this rank gives as InitOptions::shared_memory: the test lists the ranks that want it in
// DDP_TEST_SHARED_MEMORY, "0 1".
bool wants_shared_memory();

}  // namespace ddp::test
