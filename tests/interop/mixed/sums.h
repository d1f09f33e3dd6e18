// What mixed_rank and mixed_rank.py print.
#pragma once

#include <string>
#include <vector>

namespace ddprun::test {

// The text behind "sum |w| = " of each line that begins as `who` ("Python" or "C++") says.
std::vector<std::string> sums(const std::string& out, const std::string& who);

}  // namespace ddprun::test
