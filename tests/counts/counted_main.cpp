// One workload in a process of its own, for callgrind.
//
//   counted_workload NAME
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "tests/counts/counted.h"

int main(int argc, char** argv) try {
  if (argc != 2) throw std::invalid_argument("usage: counted_workload NAME");
  for (const auto& workload : ddprun::counts::workloads()) {
    if (std::string_view(argv[1]) != workload.name) continue;
    workload.run(workload.items);
    return 0;
  }
  throw std::invalid_argument("there is no workload of that name");
} catch (const std::exception& error) {
  std::fprintf(stderr, "counted_workload: %s\n", error.what());
  return 1;
}
