// Shorthands for tests of the command line.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launcher/cli/parse.h"

namespace ddprun::cli {

using Words = std::vector<std::string>;

// The JobSpec of `words`; a failure of the test and an empty one if they were refused.
inline JobSpec job_of(const Words& words, const Words& environment = {}) {
  auto result = parse(words, Environment(environment));
  if (const Exit* exit = std::get_if<Exit>(&result)) {
    ADD_FAILURE() << "refused: " << exit->err;
    return {};
  }
  return std::get<JobSpec>(result);
}

// The one line with which `words` are refused, without its newline; "" if they were taken.
inline std::string error_of(const Words& words, const Words& environment = {}) {
  auto result = parse(words, Environment(environment));
  const Exit* exit = std::get_if<Exit>(&result);
  if (exit == nullptr) return "";
  EXPECT_EQ(exit->code, 2);
  EXPECT_EQ(exit->out, "");
  EXPECT_EQ(exit->err.find('\n'), exit->err.size() - 1) << "not one line: " << exit->err;
  return exit->err.substr(0, exit->err.size() - 1);
}

}  // namespace ddprun::cli
