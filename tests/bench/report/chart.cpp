#include "tests/bench/report/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/bench/table.h"
#include "tests/with_commas.h"

namespace ddprun::bench {
namespace {

// In pixels.
constexpr double kWidth = 760, kLeft = 250, kRight = 670;  // bars lie between the latter two
constexpr double kTop = 64, kGroupHeight = 26, kBarHeight = 20, kBottom = 36;

// A card with a ground of its own: a page may be dark while the system prefers light. The colours
// of the bars have a contrast of three to one at least with both grounds.
constexpr char kStyle[] =
    "<style>\n"
    ".ground { fill: #ffffff; stroke: #d0d7de; }\n"
    "text { fill: #1f2328; font: 12px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; }\n"
    ".title { font-size: 16px; font-weight: 600; }\n"
    ".group { font-weight: 600; }\n"
    ".faint { fill: #59636e; }\n"
    ".grid { stroke: #d0d7de; }\n"
    ".mark { stroke: #59636e; stroke-dasharray: 4 3; }\n"
    ".own { fill: #2f7de1; }\n"
    ".peer { fill: #b8741a; }\n"
    ".floor { fill: #7d8590; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  .ground { fill: #0d1117; stroke: #3d444d; }\n"
    "  text { fill: #f0f6fc; }\n"
    "  .faint { fill: #9198a1; }\n"
    "  .grid { stroke: #3d444d; }\n"
    "  .mark { stroke: #9198a1; }\n"
    "}\n"
    "</style>\n";

const char* class_of(Role role) {
  switch (role) {
    case Role::own:
      return "own";
    case Role::peer:
      return "peer";
    case Role::floor:
      return "floor";
  }
  return "peer";
}

std::string pixels(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + pixels(value) + "\"";
}

std::string text_at(double x, double y, const std::string& text, const char* look,
                    const char* anchor = "start") {
  return std::string("<text class=\"") + look + "\"" + attribute("x", x) + attribute("y", y) +
         " text-anchor=\"" + anchor + "\">" + xml_text(text) + "</text>\n";
}

std::string vertical_line(const char* look, double x, double top, double bottom) {
  return std::string("<line class=\"") + look + "\"" + attribute("x1", x) + attribute("x2", x) +
         attribute("y1", top) + attribute("y2", bottom) + "/>\n";
}

std::vector<double> values_of(const Chart& chart) {
  std::vector<double> values;
  for (const BarGroup& group : chart.groups)
    for (const Bar& bar : group.bars)
      if (bar.value && *bar.value > 0) values.push_back(*bar.value);
  if (chart.mark && !values.empty()) values.push_back(*chart.mark);
  return values;
}

double power_of_ten(int exponent) {
  return std::pow(10.0, exponent);
}

Axis logarithmic_axis(double least, double most) {
  const int first = static_cast<int>(std::floor(std::log10(least / 2)));
  const int last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(most))));
  Axis axis{power_of_ten(first), power_of_ten(last), {}};
  for (int exponent = first; exponent <= last; ++exponent)
    axis.ticks.push_back(power_of_ten(exponent));
  return axis;
}

// Four to eight steps of 1, 2 or 5 times a power of ten.
Axis linear_axis(double most) {
  double step = power_of_ten(static_cast<int>(std::floor(std::log10(most / 4))));
  if (most / step > 20)
    step *= 5;
  else if (most / step > 8)
    step *= 2;
  const int steps = static_cast<int>(std::ceil(most / step - 1e-9));
  Axis axis{0, steps * step, {}};
  for (int tick = 0; tick <= steps; ++tick) axis.ticks.push_back(tick * step);
  return axis;
}

double position(const Axis& axis, Chart::Scale scale, double value) {
  const bool logarithmic = scale == Chart::Scale::logarithmic;
  const double share =
      logarithmic ? std::log(std::max(value, axis.low) / axis.low) / std::log(axis.high / axis.low)
                  : (value - axis.low) / (axis.high - axis.low);
  return kLeft + std::max(0.0, share) * (kRight - kLeft);
}

std::string tick_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return with_commas(text);
}

std::string bar_text(const Bar& bar, double left, double y) {
  const double middle = y + kBarHeight / 2 + 4;
  const std::string label = text_at(kLeft - 8, middle, bar.label, "label", "end");
  if (!bar.value) return label + text_at(kLeft + 6, middle, "not measured", "faint");
  return label + "<rect class=\"" + class_of(bar.role) + "\"" + attribute("x", kLeft) +
         attribute("y", y + 3) + attribute("width", left - kLeft) +
         attribute("height", kBarHeight - 6) + "/>\n" +
         text_at(left + 6, middle, with_commas(number(*bar.value)), "value");
}

double height_of(const Chart& chart) {
  double height = kTop + kBottom;
  for (const BarGroup& group : chart.groups)
    height += kGroupHeight + kBarHeight * static_cast<double>(group.bars.size());
  return height;
}

std::string grid(const Chart& chart, const Axis& axis, double bottom) {
  std::string text;
  for (const double tick : axis.ticks) {
    const double x = position(axis, chart.scale, tick);
    text += vertical_line("grid", x, kTop, bottom) +
            text_at(x, bottom + 16, tick_text(tick), "faint", "middle");
  }
  return text;
}

std::string bars(const Chart& chart, const Axis& axis) {
  std::string text;
  double y = kTop;
  for (const BarGroup& group : chart.groups) {
    text += text_at(16, y + kGroupHeight - 8, group.title, "group");
    y += kGroupHeight;
    for (const Bar& bar : group.bars) {
      text += bar_text(bar, position(axis, chart.scale, bar.value.value_or(0)), y);
      y += kBarHeight;
    }
  }
  return text;
}

std::string description(const Chart& chart) {
  std::string text = chart.what + ".";
  for (const BarGroup& group : chart.groups) {
    std::string list;
    for (const Bar& bar : group.bars)
      list += (list.empty() ? "" : ", ") + bar.label + " " +
              (bar.value ? with_commas(number(*bar.value)) : "not measured");
    text += " " + group.title + ": " + list + ".";
  }
  return text;
}

}  // namespace

Axis axis_of(const Chart& chart) {
  const std::vector<double> values = values_of(chart);
  const bool logarithmic = chart.scale == Chart::Scale::logarithmic;
  if (values.empty()) return logarithmic ? Axis{1, 10, {1, 10}} : Axis{0, 1, {0, 1}};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return logarithmic ? logarithmic_axis(*least, *most) : linear_axis(*most);
}

std::string xml_text(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += letter;
    }
  }
  return safe;
}

std::string svg(const Chart& chart) {
  const Axis axis = axis_of(chart);
  const double height = height_of(chart), bottom = height - kBottom;
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 " +
                     pixels(kWidth) + " " + pixels(height) + "\"" + attribute("width", kWidth) +
                     attribute("height", height) + " aria-labelledby=\"title description\">\n";
  text += "<title id=\"title\">" + xml_text(chart.title) + "</title>\n";
  text += "<desc id=\"description\">" + xml_text(description(chart)) + "</desc>\n";
  text += kStyle;
  text += "<rect class=\"ground\"" + attribute("x", 0.5) + attribute("y", 0.5) +
          attribute("width", kWidth - 1) + attribute("height", height - 1) + " rx=\"6\"/>\n";
  text += text_at(16, 28, chart.title, "title") + text_at(16, 48, chart.what, "faint");
  text += grid(chart, axis, bottom);
  if (chart.mark)
    text += vertical_line("mark", position(axis, chart.scale, *chart.mark), kTop, bottom);
  return text + bars(chart, axis) + "</svg>\n";
}

}  // namespace ddprun::bench
