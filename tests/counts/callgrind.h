// Instructions of a program, counted by valgrind's callgrind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::counts {

struct Count {
  std::vector<std::string> command;   // its first word is a path
  std::string function = {};          // count only inside it; empty: everything
  std::string profile = "/dev/null";  // where callgrind writes what callgrind_annotate reads
};

// Whether there is a valgrind in the PATH.
bool has_valgrind();

// Runs the program with a nearly empty environment and the plain versions of the C library's
// functions, so that neither the user nor the CPU changes the count. Waits at most a minute. The
// Error has the program's output: it failed, or nothing was counted. The processes that it forks
// are counted as well.
Result<std::uint64_t> instructions_of(const Count& count);

// The sum of callgrind's "Collected" lines.
std::uint64_t collected(std::string_view output);

}  // namespace ddprun::counts
