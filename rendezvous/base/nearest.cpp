#include "rendezvous/base/nearest.h"

#include <algorithm>
#include <vector>

namespace ddprun {
namespace {

constexpr std::size_t kFar = 1000;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::size_t unlikeness(std::string_view name, std::string_view candidate) {
  // Who stops in the middle of a name means that name, however long its rest is.
  if (name.size() >= 3 && candidate.starts_with(name)) return 1;
  // And who slips there as well: --nrpoc.
  const std::size_t slip =
      name.size() < 4 ? kFar : edit_distance(name, candidate.substr(0, name.size())) + 1;
  return std::min(edit_distance(name, candidate), slip);
}

std::size_t still_alike(std::string_view name) {
  return std::max<std::size_t>(2, name.size() / 3);
}

std::string_view nearest_of(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  std::size_t least = still_alike(name) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = unlikeness(name, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view nearest = nearest_of(name, candidates);
  return nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace ddprun
