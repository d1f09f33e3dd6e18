// Plain text for manual pages.
#pragma once

#include <string>
#include <string_view>

namespace ddprun::packaging {

// Text as roff: a dash that can be copied, and no line that begins with a request.
std::string roff(std::string_view text);

}  // namespace ddprun::packaging
