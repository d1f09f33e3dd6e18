// Plain text for manual pages.
#pragma once

#include <string>
#include <string_view>

namespace ddprun::packaging {

// Text as roff: a dash that can be copied, and no line that begins with a request.
std::string roff(std::string_view text);

// The front of a page with this release's DATE and VERSION in the places of these words.
std::string of_this_release(std::string_view front);

}  // namespace ddprun::packaging
