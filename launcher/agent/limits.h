// The limit on open descriptors, and what follows from it.
#pragma once

#include <sys/resource.h>

#include "rendezvous/server/connection_limits.h"

namespace ddprun::agent {

// Raises the soft limit of this process to the hard one, so that hundreds of workers' pipes and
// store clients fit, and returns the limit as it was, which the workers get back; a maximum of 0
// means that it could not be read and nothing was changed.
rlimit raise_descriptor_limit();

// Of a server in this process: enough descriptors are left for the workers.
server::ConnectionLimits connection_limits(bool tls);

// Sets them in the options of a RosterServer or a Server.
template <class Options>
void limit_connections(Options& options) {
  const auto limits = connection_limits(options.tls != nullptr);
  options.max_connections = limits.all;
  options.max_per_address = limits.per_address;
  options.max_unfinished_per_address = limits.unfinished_per_address;
  options.limit_advice = "; it follows from the limit of open files of this ddprun (ulimit -Hn)";
}

}  // namespace ddprun::agent
