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
Scenarios sync_batch_norm_scenarios();
Scenarios tensor_scenarios();

}  // namespace ddp::test
