// Reads decimal numbers without the maths library, which std::from_chars for double needs: loading
// it costs ddprun a twentieth of the start of two workers.
#pragma once

#include <optional>
#include <string_view>

namespace ddprun {

// The number that all of `text` is: "30", "-1", ".5", "2e-3". Nothing when it is no such number,
// has a blank, a sign `+` or a hexadecimal digit in it, or is out of the range of double.
std::optional<double> read_decimal(std::string_view text);

}  // namespace ddprun
