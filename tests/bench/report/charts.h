// Which of the figures are drawn, and how.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/report/chart.h"
#include "tests/bench/report/figures.h"

namespace ddprun::bench {

struct NamedChart {
  std::string name;   // of its file, without ".svg"
  std::string group;  // of the rows that it shows
  Chart chart;
};

// The charts for which there are rows; a chart leaves out bars and groups of bars of which there is
// no row.
std::vector<NamedChart> charts_of(const std::vector<Figures>& figures);

}  // namespace ddprun::bench
