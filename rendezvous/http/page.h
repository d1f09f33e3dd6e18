// The status page: one HTML document without scripts, images or anything else to load.
#pragma once

#include <cstddef>
#include <string>

#include "rendezvous/http/view.h"

namespace ddprun::http {

// How many runs it shows; the rest is counted.
inline constexpr std::size_t kRunsShown = 100;

// Refreshes itself every few seconds. Runs and nodes beyond what a person reads are counted, not
// listed, so the page stays under a few megabytes. PyTorch has no counterpart.
std::string status_page(const View& view);

}  // namespace ddprun::http
