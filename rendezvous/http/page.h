// The status page: one HTML document without scripts, images or anything else to load.
#pragma once

#include <string>

#include "rendezvous/http/view.h"

namespace ddprun::http {

// Refreshes itself every few seconds. Runs and nodes beyond what a person reads are counted, not
// listed, so the page stays under a few megabytes. PyTorch has no counterpart.
std::string status_page(const View& view);

}  // namespace ddprun::http
