// Environment variables as numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "launcher/cluster/allocation.h"

namespace ddprun::cluster {

using VariableNames = std::initializer_list<std::string_view>;

// The first of `names` that is set and not empty.
std::optional<Sourced<std::string>> text_of(const Variables& variables, VariableNames names);

// The same as a number between `lowest` and `highest`; none where none is set. An Error that names
// variable and value where it is no such number.
Result<std::optional<Sourced<int>>> number_of(const Variables& variables, VariableNames names,
                                              int lowest = 0, int highest = kMostNodes);

// The whole number that `text` is, digits only.
std::optional<std::uint64_t> digits_of(std::string_view text);

// "SLURM_NNODES=2".
std::string shown(const Sourced<int>& number);
std::string shown(const Sourced<std::string>& text);

}  // namespace ddprun::cluster
