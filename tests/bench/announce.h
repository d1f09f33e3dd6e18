// The end of main() for a program that measures and is started by an Announcer.
#pragma once

#include <functional>
#include <string>

namespace ddprun::bench {

// Prints what `measure` returns as a line, and stays until the process is killed, so that a server
// keeps its clients. What it throws is printed as well, and 1 returned.
int announce(const std::function<std::string()>& measure);

// With four digits behind the point.
std::string digits(double value);

}  // namespace ddprun::bench
