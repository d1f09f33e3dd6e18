#include "launcher/agent/limits.h"

namespace ddprun::agent {

rlimit raise_descriptor_limit() {
  rlimit inherited{};
  if (::getrlimit(RLIMIT_NOFILE, &inherited) != 0) return {};
  const rlimit raised{inherited.rlim_max, inherited.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
  return inherited;
}

}  // namespace ddprun::agent
