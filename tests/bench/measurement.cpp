#include "tests/bench/measurement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace ddprun::bench {
namespace {

using Values = std::vector<std::optional<double>>;

std::vector<double> ratios_of(const Values& own, const Values& peer) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(own.size(), peer.size()); ++round)
    if (own[round] && peer[round] && *peer[round] > 0) ratios.push_back(*own[round] / *peer[round]);
  return ratios;
}

const Row* find_row(const Block& block, const std::string& name) {
  for (const Probe& probe : block.probes)
    for (const Row& row : probe.rows)
      if (row.name == name) return &row;
  return nullptr;
}

std::optional<bool> judge(const Result& result) {
  const Goal& goal = result.row.goal;
  if (result.values.empty()) return {};
  switch (goal.of) {
    case Goal::Of::nothing:
      return {};
    case Goal::Of::median_at_most:
      return result.median <= goal.limit;
    case Goal::Of::ratio_at_most:
      return result.ratio ? std::optional(*result.ratio <= goal.limit) : std::nullopt;
    case Goal::Of::ratio_at_least:
      return result.ratio ? std::optional(*result.ratio >= goal.limit) : std::nullopt;
    case Goal::Of::ratio_no_slower:
      if (!result.interval) return {};
      return *result.ratio <= goal.limit && result.interval->first <= 1;
  }
  return {};
}

std::string goal_text(const Row& row) {
  if (row.goal.of == Goal::Of::nothing) return "";
  char number[32];
  std::snprintf(number, sizeof number, "%.4g", row.goal.limit);
  const bool least = row.goal.of == Goal::Of::ratio_at_least;
  if (row.goal.of == Goal::Of::ratio_no_slower)
    return "at most " + std::string(number) + " x, 1 inside";
  const std::string unit = row.goal.of == Goal::Of::median_at_most ? row.unit : "x";
  return (least ? "at least " : "at most ") + std::string(number) + " " + unit;
}

Result result_of(const Block& block, const Probe& probe, const Row& row) {
  Result result{.group = block.group, .row = row, .goal = goal_text(row), .missing = probe.missing};
  result.values = present(row.values);
  if (result.values.empty()) return result;
  result.median = percentile(result.values, 50);
  result.low = percentile(result.values, 10);
  result.high = percentile(result.values, 90);
  if (const Row* peer = find_row(block, row.peer)) {
    const std::vector<double> ratios = ratios_of(row.values, peer->values);
    if (!ratios.empty()) result.ratio = percentile(ratios, 50);
    result.interval = median_interval(ratios);
  }
  result.met = judge(result);
  return result;
}

}  // namespace

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(percent / 100 * static_cast<double>(values.size() - 1) +
                                         0.5)];
}

std::optional<std::pair<double, double>> median_interval(std::vector<double> values) {
  if (values.size() < 6) return {};
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  // How many values may lie outside on each side, by the normal approximation.
  const auto outside =
      static_cast<std::size_t>(std::max(0.0, (count - 1.96 * std::sqrt(count)) / 2));
  return std::pair(values[outside], values[values.size() - 1 - outside]);
}

std::vector<double> present(const Values& values) {
  std::vector<double> found;
  for (const auto& value : values)
    if (value) found.push_back(*value);
  return found;
}

std::vector<Result> results_of(const std::vector<Block>& blocks) {
  std::vector<Result> results;
  for (const Block& block : blocks)
    for (const Probe& probe : block.probes)
      for (const Row& row : probe.rows) results.push_back(result_of(block, probe, row));
  return results;
}

}  // namespace ddprun::bench
