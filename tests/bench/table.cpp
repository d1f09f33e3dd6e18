#include "tests/bench/table.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>

namespace ddprun::bench {
namespace {

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string verdict(const Result& result) {
  return !result.met ? "" : *result.met ? "met" : "MISSED";
}

std::string ratio_text(const Result& result) {
  if (!result.ratio) return "";
  const std::string ratio = number(*result.ratio) + " x";
  if (!result.interval) return ratio;
  return ratio + " (" + number(result.interval->first) + " - " + number(result.interval->second) +
         ")";
}

// Markdown reads a bar as the end of a cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string text_row(const Result& result, int width) {
  const Row& row = result.row;
  if (result.values.empty())
    return formatted("%-*s not measured: %s\n", width, row.name.c_str(), result.missing.c_str());
  return formatted("%-*s %8s %-5s %17s %-22s  %-16s %s\n", width, row.name.c_str(),
                   number(result.median).c_str(), row.unit.c_str(),
                   (number(result.low) + " - " + number(result.high)).c_str(),
                   ratio_text(result).c_str(), result.goal.c_str(), verdict(result).c_str());
}

std::string markdown_row(const Result& result) {
  const Row& row = result.row;
  std::string text = "| " + cell(row.name) + " | ";
  if (result.values.empty()) return text + "not measured: " + cell(result.missing) + " | | | | |\n";
  return text + number(result.median) + " " + row.unit + " | " + number(result.low) + " - " +
         number(result.high) + " | " + ratio_text(result) + " | " + result.goal + " | " +
         verdict(result) + " |\n";
}

boost::json::object json_row(const Result& result) {
  boost::json::object row{
      {"group", result.group}, {"name", result.row.name}, {"unit", result.row.unit}};
  if (!result.missing.empty()) row["missing"] = result.missing;
  if (!result.goal.empty()) row["goal"] = result.goal;
  if (result.values.empty()) return row;
  row["median"] = result.median;
  row["p10"] = result.low;
  row["p90"] = result.high;
  if (result.ratio) row["ratio"] = *result.ratio;
  if (result.ratio) row["peer"] = result.row.peer;
  if (result.interval) row["ratio_interval"] = {result.interval->first, result.interval->second};
  if (result.met) row["met"] = *result.met;
  row["values"] = boost::json::array(result.values.begin(), result.values.end());
  return row;
}

}  // namespace

std::string number(double value) {
  return formatted(value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
}

std::string text_table(const std::vector<Result>& results) {
  std::string text, group;
  std::size_t longest = 0;
  for (const Result& result : results) longest = std::max(longest, result.row.name.size());
  const int width = static_cast<int>(longest);
  for (const Result& result : results) {
    if (result.group != group)
      text += formatted("\n%-*s %14s %17s %-22s  %s\n", width, result.group.c_str(), "median    ",
                        "p10 - p90", "ratio (95 %)", "goal");
    group = result.group;
    text += text_row(result, width);
  }
  return text;
}

std::string markdown_list(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += "* " + name + ": " + value + "\n";
  return text;
}

std::string markdown_table(const std::vector<Result>& results) {
  std::string text =
      "| what | median | 10th to 90th percentile | ratio (95 % interval) | goal | |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const Result& result : results) text += markdown_row(result);
  return text;
}

std::string json(const Facts& facts, int rounds, const std::vector<Result>& results) {
  boost::json::object named_facts;
  for (const auto& [name, value] : facts) named_facts[name] = value;
  boost::json::array rows;
  for (const Result& result : results) rows.push_back(json_row(result));
  return boost::json::serialize(
             boost::json::object{{"facts", named_facts}, {"rounds", rounds}, {"rows", rows}}) +
         "\n";
}

}  // namespace ddprun::bench
