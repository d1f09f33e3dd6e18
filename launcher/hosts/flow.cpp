#include "launcher/hosts/flow.h"

#include <algorithm>
#include <utility>

namespace ddprun::hosts {
namespace {

constexpr std::uint32_t kOfAll = std::uint32_t{32} << 20;
constexpr std::uint32_t kMost = std::uint32_t{1} << 20;  // feeds a fast connection
constexpr std::uint32_t kLeast = 4096;

std::size_t place_of(int stream) {
  return stream == 1 ? 0 : 1;
}

}  // namespace

std::uint32_t credit_of_stream(int nodes) {
  return std::clamp(kOfAll / 2 / static_cast<std::uint32_t>(nodes), kLeast, kMost);
}

Debts::Debts(int nodes, std::uint32_t credit)
    : worth_(credit / 2), owed_(static_cast<std::size_t>(nodes)) {}

void Debts::take(const Lines& lines) {
  owed_.at(static_cast<std::size_t>(lines.index)).at(place_of(lines.stream)) +=
      static_cast<std::uint32_t>(lines.text.size());
}

std::optional<Credit> Debts::settle(int index, int stream) {
  std::uint32_t& owed = owed_.at(static_cast<std::size_t>(index)).at(place_of(stream));
  if (owed == 0 || owed < worth_) return std::nullopt;
  return Credit{.index = index, .stream = stream, .bytes = std::exchange(owed, 0)};
}

std::vector<Credit> Debts::settle_all(int stream) {
  std::vector<Credit> all;
  for (int index = 0; std::cmp_less(index, owed_.size()); ++index)
    if (const auto credit = settle(index, stream)) all.push_back(*credit);
  return all;
}

}  // namespace ddprun::hosts
