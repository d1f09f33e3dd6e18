// Large numbers as people read them.
#pragma once

#include <string>

namespace ddprun {

// "12,345". What has a point or fewer than five digits stays as it is.
inline std::string with_commas(std::string digits) {
  if (digits.find('.') != std::string::npos || digits.size() < 5) return digits;
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace ddprun
