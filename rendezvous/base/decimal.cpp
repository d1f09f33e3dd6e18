#include "rendezvous/base/decimal.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace ddprun {

std::optional<double> read_decimal(std::string_view text) {
  const std::string_view digits = text.substr(text.rfind('-', 0) == 0 ? 1 : 0);
  if (digits.empty() || digits.find_first_of("0123456789.") != 0 ||
      text.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return std::nullopt;
  const std::string copy(text);  // strtod wants an end that it can see
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace ddprun
