// The limit on open descriptors.
#pragma once

#include <sys/resource.h>

namespace ddprun::agent {

// Raises the soft limit of this process to the hard one, so that hundreds of workers' pipes and
// store clients fit, and returns the limit as it was, which the workers get back; a maximum of 0
// means that it could not be read and nothing was changed.
rlimit raise_descriptor_limit();

}  // namespace ddprun::agent
