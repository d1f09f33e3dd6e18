#include "launcher/agent/limits.h"

namespace ddprun::agent {
namespace {

// Some for each of hundreds of workers: pipes, logs, connections of its own.
constexpr std::size_t kOwnFiles = 4096;

}  // namespace

rlimit raise_descriptor_limit() {
  rlimit inherited{};
  if (::getrlimit(RLIMIT_NOFILE, &inherited) != 0) return {};
  const rlimit raised{inherited.rlim_max, inherited.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
  return inherited;
}

server::ConnectionLimits connection_limits(bool tls) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  return server::shared_out(server::connections_for(files.rlim_cur, kOwnFiles, tls));
}

}  // namespace ddprun::agent
