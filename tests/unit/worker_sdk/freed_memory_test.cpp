#include "worker_sdk/src/freed_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

#include "tests/unit/worker_sdk/environment_of.h"

namespace ddp::detail {
namespace {

constexpr std::size_t kBytes = 16 << 20;

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// As a training step does with its activations.
void use_and_free() {
  auto* memory = static_cast<volatile char*>(std::malloc(kBytes));
  for (std::size_t i = 0; i < kBytes; i += 4096) memory[i] = 1;
  std::free(const_cast<char*>(memory));
}

// The page faults of eight steps, in the number of pages that one step uses.
double faults_per_step_size() {
  use_and_free();
  const long before = page_faults();
  for (int step = 0; step < 8; ++step) use_and_free();
  return static_cast<double>(page_faults() - before) / (kBytes / 4096.0);
}

TEST(FreedMemory, IsTheUsersToDecide) {
  for (const char* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"}) {
    EXPECT_FALSE(keep_freed_memory(environment_of({{name, "1"}}))) << name;
  }
  // So that the next test says something: glibc alone gives blocks of this size back.
  EXPECT_GT(faults_per_step_size(), 0.5);
}

// The last one, for it cannot be undone in this process.
TEST(FreedMemory, IsKeptForTheNextStep) {
  EXPECT_TRUE(keep_freed_memory(environment_of({})));
  EXPECT_LT(faults_per_step_size(), 0.5);
}

}  // namespace
}  // namespace ddp::detail
