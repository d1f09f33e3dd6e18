// What the benchmark measures: rows of figures with a goal and a peer to be compared with. No
// clock and no process here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddprun::bench {

// A limit that is told, never asserted.
struct Goal {
  enum class Of { nothing, median_at_most, ratio_at_most, ratio_at_least, ratio_no_slower };
  Of of = Of::nothing;
  double limit = 0;
};

inline Goal median_at_most(double limit) {
  return {Goal::Of::median_at_most, limit};
}
inline Goal ratio_at_most(double limit) {
  return {Goal::Of::ratio_at_most, limit};
}
inline Goal ratio_at_least(double limit) {
  return {Goal::Of::ratio_at_least, limit};
}
// As fast as the peer: at most `limit` times its time, and 1 not below the interval of the ratio.
inline Goal ratio_no_slower(double limit) {
  return {Goal::Of::ratio_no_slower, limit};
}

// One line of the table.
struct Row {
  std::string name;
  std::string unit;
  Goal goal = {};
  std::string peer = {};  // the name of the row of the same block that this one is divided by
  std::vector<std::optional<double>> values = {};  // one for each round; none: not in this round
};

// One thing that is done and yields a figure for each of its rows.
struct Probe {
  std::vector<Row> rows;
  std::function<std::vector<double>()> measure;
  int most_rounds = 1000;    // for what takes long; they are spread over all rounds
  std::string missing = {};  // why it is not measured; empty: it is
  bool failed = false;       // it could not be measured, and `missing` says why
};

// Probes that are compared with each other: in each round they run one right after the other.
struct Block {
  std::string group;
  std::vector<Probe> probes;
};

// The value that `percent` of the values do not exceed. `values` must not be empty.
double percentile(std::vector<double> values, double percent);

// The 95 % interval of the median of what the values are drawn from, by their order alone
// (binomial), whatever their distribution; none when there are fewer than 6.
std::optional<std::pair<double, double>> median_interval(std::vector<double> values);

// The values that are there.
std::vector<double> present(const std::vector<std::optional<double>>& values);

// A row with its figures, ready to be shown.
struct Result {
  std::string group;
  Row row;
  std::string goal;     // "at most 2 x", "at least 100 x", "at most 10 ms"; empty: none
  std::string missing;  // why there are no figures
  std::vector<double> values;
  double median = 0, low = 0, high = 0;  // low and high: 10th and 90th percentile
  // To the peer: the median of the ratios of the rounds in which both were measured, so that a slow
  // minute of the machine falls on both alike.
  std::optional<double> ratio;
  // In which the true median of the ratios lies with 95 % certainty; none with fewer than 6 rounds.
  std::optional<std::pair<double, double>> interval;
  std::optional<bool> met;  // none: there is no goal, or nothing to judge it by
};

std::vector<Result> results_of(const std::vector<Block>& blocks);

}  // namespace ddprun::bench
