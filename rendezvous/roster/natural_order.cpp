#include "rendezvous/roster/natural_order.h"

#include <algorithm>
#include <cstddef>

namespace ddprun::roster {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits(text.begin(), static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

std::string_view without_zeros(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

// Below, above or equal to 0, as std::string_view::compare.
int compare_numbers(std::string_view a, std::string_view b) {
  a = without_zeros(a);
  b = without_zeros(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const int order = compare_numbers(take_digits(a), take_digits(b));
      if (order != 0) return order < 0;
    } else if (a[0] != b[0]) {
      return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  if (whole_a.size() != whole_b.size()) return whole_a.size() < whole_b.size();
  return whole_a < whole_b;
}

}  // namespace ddprun::roster
