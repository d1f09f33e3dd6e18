// The figures of a server and its runs as Prometheus text.
#pragma once

#include <string>

#include "rendezvous/http/view.h"

namespace ddprun::http {

// Exposition format 0.0.4. There is a row for each run, never one for each node or worker, so that
// the number of rows stays small.
std::string metrics(const View& view);

}  // namespace ddprun::http
