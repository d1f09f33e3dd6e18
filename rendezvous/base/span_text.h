// Spans of time for people.
#pragma once

#include <chrono>
#include <string>

namespace ddprun {

// "0.4 s", "12 s", "600 s", "20 min", "3 h 5 min"; rounded down, tenths below ten seconds only.
std::string span_text(std::chrono::nanoseconds span);

}  // namespace ddprun
