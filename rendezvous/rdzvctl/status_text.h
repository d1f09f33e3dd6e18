// The status of runs as text for a terminal. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace ddprun::rdzvctl {

// `runs` is an array as GET /api/v1/runs gives it; what a newer server leaves out is shown as "-".
std::string status_text(const boost::json::value& runs);

}  // namespace ddprun::rdzvctl
