// About how much memory a value takes with all that it owns: what the limit on a server's memory
// counts. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rendezvous/roster/types.h"

namespace ddprun::roster {

std::size_t footprint(const Join& join);
std::size_t footprint(const protocol::Assignment& assignment);
std::size_t footprint(const Cause& cause);
std::size_t footprint(const std::vector<std::string>& texts);
std::size_t footprint(const std::vector<protocol::Started::Worker>& workers);

}  // namespace ddprun::roster
