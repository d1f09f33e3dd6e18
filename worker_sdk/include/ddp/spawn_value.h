// The values that spawn hands to its workers: texts and arithmetic types.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ddp/export.h"

namespace ddp::detail {

// Every type is widened to one of these, without loss.
using SpawnValue =
    std::variant<bool, std::int64_t, std::uint64_t, double, long double, std::string>;

template <class T>
concept SpawnParameter = std::is_arithmetic_v<T> || std::same_as<T, std::string>;

template <class T>
SpawnValue to_spawn_value(const T& value) {
  if constexpr (std::same_as<T, bool> || std::same_as<T, long double>) {
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    static_assert(std::convertible_to<const T&, std::string_view>,
                  "spawn passes texts and arithmetic types; put anything else into a file");
    return std::string(static_cast<std::string_view>(value));
  }
}

// `number` as a T, if a T can hold exactly this value.
template <class T, class Number>
std::optional<T> exactly(Number number) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Number>) {
    // Characters, which std::in_range refuses, are numbers here.
    const auto back = static_cast<T>(number);
    const bool same_sign = (back < T{}) == (number < Number{});
    return same_sign && static_cast<Number>(back) == number ? std::optional(back) : std::nullopt;
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto as = static_cast<T>(number);
    if constexpr (std::is_floating_point_v<Number>) {
      const bool same = static_cast<Number>(as) == number || number != number;
      return same ? std::optional(as) : std::nullopt;
    } else {
      // Wide enough for every 64-bit integer, so that the comparison is exact.
      return static_cast<long double>(as) == static_cast<long double>(number) ? std::optional(as)
                                                                              : std::nullopt;
    }
  } else {
    return std::nullopt;
  }
}

// The value as a T; nothing if it is of another kind or would change.
template <SpawnParameter T>
std::optional<T> from_spawn_value(const SpawnValue& value) {
  return std::visit(
      [](const auto& held) -> std::optional<T> {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::same_as<T, Held>) {
          return held;
        } else if constexpr (std::same_as<T, bool> || std::same_as<Held, bool> ||
                             std::same_as<T, std::string> || std::same_as<Held, std::string>) {
          return std::nullopt;
        } else {
          return exactly<T>(held);
        }
      },
      value);
}

// What T can hold, for messages: "a text", "a whole number of 32 bits".
template <SpawnParameter T>
std::string describe_parameter() {
  if constexpr (std::same_as<T, std::string>) return "a text";
  if constexpr (std::same_as<T, bool>) return "true or false";
  if constexpr (std::same_as<T, float>) return "a number that float holds exactly (0.1f)";
  if constexpr (std::is_floating_point_v<T>) return "a number that double holds exactly";
  return std::string(std::is_signed_v<T> ? "a whole number of " : "a whole number from 0 on of ") +
         std::to_string(8 * sizeof(T)) + " bits";
}

// "argument 2: expected EXPECTED, found 'x'"; `index` counts from 0.
DDP_API std::string wrong_argument(std::size_t index, const std::string& expected,
                                   const SpawnValue& found);
DDP_API std::string wrong_count(std::size_t expected, std::size_t found);

template <class T>
std::string problem_with_one(std::size_t index, const SpawnValue& value) {
  static_assert(SpawnParameter<T>, "a spawned worker takes std::string and arithmetic types");
  if (from_spawn_value<T>(value)) return "";
  return wrong_argument(index, describe_parameter<T>(), value);
}

// The first thing that is wrong with the arguments of a function with these parameters; empty:
// nothing.
template <class... Parameters>
std::string problem_with(const std::vector<SpawnValue>& arguments) {
  if (arguments.size() != sizeof...(Parameters)) {
    return wrong_count(sizeof...(Parameters), arguments.size());
  }
  std::string problem;
  [[maybe_unused]] std::size_t index = 0;
  ((problem = problem.empty() ? problem_with_one<Parameters>(index, arguments[index]) : problem,
    ++index),
   ...);
  return problem;
}

}  // namespace ddp::detail
