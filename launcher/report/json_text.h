// JSON for people and programs: one line for each thing that repeats.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ddprun::report {

// The members of `object` on a line each; of an array of objects each element on a line. Ends with
// a newline.
std::string pretty(const boost::json::object& object);

// Bytes as text for JSON: what is not UTF-8 is written as \xNN, everything else stays.
boost::json::string utf8(std::string_view bytes);
// The same; an empty text is null.
boost::json::value text_or_null(std::string_view bytes);
boost::json::array texts(const std::vector<std::string>& lines);

}  // namespace ddprun::report
