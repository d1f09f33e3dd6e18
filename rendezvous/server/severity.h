// How much a line of the server's log matters.
#pragma once

#include <cstdint>

namespace ddprun::server {

enum class Severity : std::uint8_t { debug, info, warning, error };

}  // namespace ddprun::server
