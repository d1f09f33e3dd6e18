#include "rendezvous/roster/ranks.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "rendezvous/roster/natural_order.h"

namespace ddprun::roster {
namespace {

using Indices = std::vector<std::size_t>;

Indices chosen(const std::vector<Candidate>& candidates, std::size_t nodes) {
  Indices indices(candidates.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  std::ranges::stable_partition(
      indices, [&](std::size_t i) { return candidates[i].previous || candidates[i].hosts_server; });
  indices.resize(std::min(nodes, indices.size()));
  return indices;
}

class Slots {
 public:
  explicit Slots(std::size_t count) : taken_(count) {}

  // False if the rank does not exist or is taken.
  bool place(std::size_t candidate, std::optional<int> rank) {
    if (!rank || static_cast<std::size_t>(*rank) >= taken_.size()) return false;
    auto& slot = taken_[static_cast<std::size_t>(*rank)];
    if (slot) return false;
    slot = candidate;
    return true;
  }

  Indices filled_with(const Indices& rest) const {
    Indices order;
    auto next = rest.begin();
    for (const auto& slot : taken_) order.push_back(slot ? *slot : *next++);
    return order;
  }

 private:
  std::vector<std::optional<std::size_t>> taken_;
};

}  // namespace

std::vector<std::size_t> node_order(const std::vector<Candidate>& candidates, std::size_t nodes) {
  Indices left = chosen(candidates, nodes);
  Slots slots(left.size());
  const auto place = [&](auto rank_of) {
    std::erase_if(left, [&](std::size_t i) { return slots.place(i, rank_of(candidates[i])); });
  };
  place([](const Candidate& each) { return each.wanted; });
  place([](const Candidate& each) {
    return each.hosts_server && !each.wanted ? std::optional(0) : std::nullopt;
  });
  place([](const Candidate& each) { return each.wanted ? std::nullopt : each.previous; });
  std::ranges::stable_sort(left, [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) {
      constexpr int kLast = std::numeric_limits<int>::max();
      return std::tuple(candidates[i].wanted.value_or(-1), candidates[i].previous.value_or(kLast));
    };
    if (key(a) != key(b)) return key(a) < key(b);
    return natural_less(candidates[a].node, candidates[b].node);
  });
  return slots.filled_with(left);
}

}  // namespace ddprun::roster
