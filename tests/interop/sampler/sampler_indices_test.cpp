// Compares ddp::DistributedSampler with Python's, for the thousands of settings that
// sampler_indices.py prints.
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "ddp/distributed_sampler.h"

namespace ddp {
namespace {

// A line of the script: the arguments of a sampler, and what Python's gave.
struct Line {
  std::size_t size = 0;
  DistributedSamplerOptions options;
  std::int64_t epoch = 0;
  std::size_t length = 0;
  std::uint64_t hash = 0;
};

bool parse(const std::string& text, Line& line) {
  std::istringstream in(text);
  int num_replicas = 0, rank = 0;
  in >> line.size >> num_replicas >> rank >> line.options.shuffle >> line.options.drop_last >>
      line.options.seed >> line.epoch >> line.length >> line.hash;
  line.options.num_replicas = num_replicas;
  line.options.rank = rank;
  return !in.fail();
}

std::uint64_t fnv1a(const std::vector<std::size_t>& numbers) {
  std::uint64_t value = 1469598103934665603u;
  for (const auto number : numbers) value = (value ^ number) * 1099511628211u;
  return value;
}

void compare(const std::string& text) {
  Line line;
  ASSERT_TRUE(parse(text, line)) << text;
  DistributedSampler sampler(line.size, line.options);
  sampler.set_epoch(line.epoch);
  const auto indices = sampler.next(line.size).value_or(std::vector<std::size_t>{});
  ASSERT_EQ(sampler.num_samples(), line.length) << text;
  ASSERT_EQ(indices.size(), line.length) << text;
  ASSERT_EQ(fnv1a(indices), line.hash) << text;
}

TEST(SamplerIndices, EqualPythons) {
  const std::string command =
      std::string("'") + getenv("DDPRUN_INTEROP_PYTHON") + "' '" + SAMPLER_INDICES_PY + "'";
  std::unique_ptr<FILE, int (*)(FILE*)> python(popen(command.c_str(), "r"), pclose);
  ASSERT_TRUE(python);
  char text[256];
  int compared = 0;
  std::string last;
  while (fgets(text, sizeof text, python.get())) {
    last = text;
    if (last.starts_with("end ")) break;
    compare(last);
    if (HasFatalFailure()) break;
    ++compared;
  }
  EXPECT_EQ(last, "end " + std::to_string(compared) + "\n");
  EXPECT_GE(compared, 2000);
}

}  // namespace
}  // namespace ddp
