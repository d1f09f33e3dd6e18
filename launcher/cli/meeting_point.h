// Where several nodes meet: an option, the engine or the environment says it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/cli/rendezvous.h"

namespace ddprun::cli {

// torchrun's ports where none was given.
inline constexpr std::uint16_t kFixedPort = 29'500;    // --master-port, for static
inline constexpr std::uint16_t kArrivalPort = 29'400;  // of an endpoint, for c10d

struct FoundMeetingPoint {
  Sourced<MeetingPoint> point;
  std::vector<MeetingPoint> more;
  std::vector<std::string> from_environment;  // "MASTER_ADDR=node0": what was taken from there
  std::vector<std::string> notices;
};

// `by_arrival`: c10d. First of --rdzv-endpoint, --master-addr, the engine's first host,
// MASTER_ADDR, a host that the engine lets guess, and 127.0.0.1; the port likewise, and never 0.
// An Error where no port is known, where one is 0, or where an engine gives reason to expect
// several hosts and nobody says which.
Result<FoundMeetingPoint> find_meeting_point(const RendezvousGiven& given, bool by_arrival,
                                             const cluster::Allocation& allocation,
                                             const Environment& environment);

// Localhost, ::1 and 127.*: what other hosts cannot reach.
bool is_loopback(const std::string& host);

// The value of a variable; none where it is not set or empty.
std::optional<std::string> variable_value(const Environment& environment, std::string_view name);

}  // namespace ddprun::cli
