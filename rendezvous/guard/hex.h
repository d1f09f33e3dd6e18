// Bytes as hexadecimal digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddprun::guard {

// Two digits for each byte.
std::string to_hex(std::string_view bytes);
// Nothing unless it is such digits.
std::optional<std::string> from_hex(std::string_view digits);

}  // namespace ddprun::guard
