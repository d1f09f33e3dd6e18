// What a job has left behind: for tests that end jobs in every violent way.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ddprun::test {

// Pids of processes that have `mark` ("NAME=value") in the environment they were started with.
std::vector<pid_t> pids_with_variable(const std::string& mark);
// The first entry below `folder`, or the first that is no directory; empty when there is none.
std::string first_in(const std::string& folder, bool files_only);

}  // namespace ddprun::test
