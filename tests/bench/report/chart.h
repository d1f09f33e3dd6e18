// Bar charts as SVG text: to be read on a light and on a dark page, without a script. No file here.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ddprun::bench {

// Whose bar it is, which is its colour.
enum class Role { own, peer, floor };

struct Bar {
  std::string label;
  std::optional<double> value;  // none: it was not measured, and the chart says so
  Role role = Role::peer;
};

struct BarGroup {
  std::string title;
  std::vector<Bar> bars;
};

struct Chart {
  enum class Scale { linear, logarithmic };
  std::string title;
  std::string what;  // what the bars are and in which unit, one line below the title
  Scale scale = Scale::linear;
  std::vector<BarGroup> groups;
  std::optional<double> mark = {};  // where a line stands, such as 1 for "as fast as the peer"
};

// From where to where a scale goes, and the figures along it, in order.
struct Axis {
  double low = 0, high = 1;
  std::vector<double> ticks;
};

// A linear axis begins at 0, a logarithmic one at a power of ten at least a factor of two below the
// smallest value, so that every bar can be seen. Without a value above 0 it goes from 0 to 1, or
// from 1 to 10.
Axis axis_of(const Chart& chart);

// Horizontal bars with their labels and values as text; each text and value is in the description
// as well, which screen readers read out.
std::string svg(const Chart& chart);

// With entities for what XML reads as markup.
std::string xml_text(const std::string& text);

}  // namespace ddprun::bench
