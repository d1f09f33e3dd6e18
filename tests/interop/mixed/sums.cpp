#include "tests/interop/mixed/sums.h"

#include "tests/integration/support/run.h"

namespace ddprun::test {

std::vector<std::string> sums(const std::string& out, const std::string& who) {
  const std::string mark = " in " + who + ": sum |w| = ";
  std::vector<std::string> found;
  for (const std::string& line : lines(out)) {
    const std::size_t at = line.find(mark);
    if (line.starts_with("rank ") && at != std::string::npos)
      found.push_back(line.substr(at + mark.size()));
  }
  return found;
}

}  // namespace ddprun::test
