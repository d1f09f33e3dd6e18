// The word a user may have meant: "did you mean …?".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ddprun {

// How unlike `name` a candidate is: insertions, deletions and replacements between the two. A
// candidate that begins with `name` (of three letters or more) is at distance 1, however long its
// rest is, and one that nearly begins with it is one more than the slip.
std::size_t unlikeness(std::string_view name, std::string_view candidate);

// The greatest distance at which a candidate is still worth naming.
std::size_t still_alike(std::string_view name);

// The candidate that is most like `name`, or empty where none is alike; the first of equals.
std::string_view nearest_of(std::string_view name, std::span<const std::string_view> candidates);

// "; did you mean X?" with the nearest candidate, or "" where none is alike.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace ddprun
