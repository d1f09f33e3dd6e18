// An environment for tests: what is in the map, and nothing of the process.
#pragma once

#include <map>
#include <string>

#include "tests/unit/error_of.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {

inline Lookup environment_of(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

using ddprun::test::error_of;

}  // namespace ddp::detail
