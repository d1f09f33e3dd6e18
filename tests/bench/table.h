// Shows results: for a terminal, for a page of the manual, for programs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/bench/measurement.h"

namespace ddprun::bench {

// What the figures were measured with, as (name, value): machine, kernel, versions, load.
using Facts = std::vector<std::pair<std::string, std::string>>;

// Three significant digits, which are all that a noisy machine can give.
std::string number(double value);

// Aligned columns, one line for each row, with a verdict for each goal.
std::string text_table(const std::vector<Result>& results);
// The same of one group in Markdown; the facts as a list.
std::string markdown_table(const std::vector<Result>& results);
std::string markdown_list(const Facts& facts);
// {"facts": {…}, "rounds": N, "rows": [{"group", "name", "unit", "median", "p10", "p90", "ratio",
// "peer", "goal", "met", "missing", "values"}, …]}; what does not exist is left out.
std::string json(const Facts& facts, int rounds, const std::vector<Result>& results);

}  // namespace ddprun::bench
