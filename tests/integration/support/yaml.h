// Reads the part of YAML that our examples are written in.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace ddprun::test {

// The documents of a file. Knows maps and lists by indentation, plain scalars (whole numbers, true,
// false, else text), lists written as JSON, comments and "---". A std::runtime_error with the line
// where there is anything else, or where a key comes twice.
std::vector<boost::json::value> read_yaml(const std::string& text);

}  // namespace ddprun::test
