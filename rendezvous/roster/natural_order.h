// The order in which people count names: node2 before node10.
#pragma once

#include <string_view>

namespace ddprun::roster {

// Whether `a` comes before `b`: runs of digits are compared as numbers, everything else byte by
// byte. Equal numbers with more leading zeros come later, so different names are never equal.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace ddprun::roster
