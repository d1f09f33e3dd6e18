// Bytes as base64, with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddprun {

std::string to_base64(std::string_view bytes);
// Nothing if `text` is no base64, or not written as to_base64 would.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ddprun
