#include "tests/bench/report/figures.h"

#include <algorithm>
#include <boost/json.hpp>
#include <exception>
#include <set>
#include <utility>

namespace ddprun::bench {
namespace {

namespace json = boost::json;

std::string text_in(const json::object& row, const char* name) {
  const json::value* found = row.if_contains(name);
  return found == nullptr ? "" : std::string(found->as_string());
}

double number_in(const json::object& row, const char* name) {
  return row.at(name).to_number<double>();
}

bench::Result result_in(const json::object& row) {
  bench::Result result{.group = std::string(row.at("group").as_string()),
                       .row = {.name = std::string(row.at("name").as_string()),
                               .unit = std::string(row.at("unit").as_string()),
                               .peer = text_in(row, "peer")},
                       .goal = text_in(row, "goal"),
                       .missing = text_in(row, "missing")};
  if (!row.contains("values")) return result;
  for (const json::value& value : row.at("values").as_array())
    result.values.push_back(value.to_number<double>());
  result.median = number_in(row, "median");
  result.low = number_in(row, "p10");
  result.high = number_in(row, "p90");
  if (row.contains("ratio")) result.ratio = number_in(row, "ratio");
  if (const json::value* ends = row.if_contains("ratio_interval"))
    result.interval = {ends->at(0).to_number<double>(), ends->at(1).to_number<double>()};
  if (const json::value* met = row.if_contains("met")) result.met = met->as_bool();
  return result;
}

Figures figures_in(const json::object& file) {
  Figures figures;
  for (const auto& [name, value] : file.at("facts").as_object())
    figures.facts.emplace_back(name, value.as_string());
  for (const json::value& row : file.at("rows").as_array())
    figures.results.push_back(result_in(row.as_object()));
  return figures;
}

bool has_fact(const Figures& figures, const Facts::value_type& fact) {
  return std::find(figures.facts.begin(), figures.facts.end(), fact) != figures.facts.end();
}

Facts shared_facts(const std::vector<Figures>& figures) {
  Facts shared;
  if (figures.empty()) return shared;
  for (const auto& fact : figures.front().facts)
    if (std::all_of(figures.begin(), figures.end(),
                    [&](const Figures& each) { return has_fact(each, fact); }))
      shared.push_back(fact);
  return shared;
}

std::string other_facts(const Figures& figures, const Facts& shared) {
  std::string text;
  for (const auto& fact : figures.facts)
    if (std::find(shared.begin(), shared.end(), fact) == shared.end())
      text += (text.empty() ? "" : ", ") + fact.first + ": " + fact.second;
  return text.empty() ? "" : text + "\n\n";
}

std::string group_section(const Figures& figures, const std::string& group, const Facts& shared,
                          const std::vector<Picture>& pictures) {
  std::string text = "\n### " + group + "\n\n";
  for (const Picture& picture : pictures)
    if (picture.group == group) text += "![" + picture.title + "](" + picture.path + ")\n\n";
  std::vector<bench::Result> own;
  for (const bench::Result& result : figures.results)
    if (result.group == group) own.push_back(result);
  return text + other_facts(figures, shared) + markdown_table(own);
}

}  // namespace

ddprun::Result<Figures> figures_from(const std::string& file, const std::string& text) try {
  return figures_in(json::parse(text).as_object());
} catch (const std::exception& error) {
  return Error{file + " holds no figures of ./dev bench --json: " + error.what()};
}

std::vector<std::string> groups_of(const std::vector<Figures>& figures) {
  std::vector<std::string> groups;
  for (const Figures& each : figures)
    for (const bench::Result& result : each.results)
      if (std::find(groups.begin(), groups.end(), result.group) == groups.end())
        groups.push_back(result.group);
  return groups;
}

std::vector<Figures> merged(std::vector<Figures> files) {
  std::set<std::string> taken;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    std::erase_if(file->results, [&](const auto& result) { return taken.contains(result.group); });
    for (const bench::Result& result : file->results) taken.insert(result.group);
  }
  std::erase_if(files, [](const Figures& file) { return file.results.empty(); });
  return files;
}

std::string figures_section(const std::vector<Figures>& figures,
                            const std::vector<Picture>& pictures) {
  const Facts shared = shared_facts(figures);
  std::string text = markdown_list(shared);
  for (const Figures& each : figures)
    for (const std::string& group : groups_of({each}))
      text += group_section(each, group, shared, pictures);
  return text;
}

ddprun::Result<std::string> with_section(const std::string& page, const std::string& section) {
  const std::size_t begin = page.find(kBeginMark), end = page.find(kEndMark);
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    return Error{"the page has no place for figures: the lines \"" + std::string(kBeginMark) +
                 "\" and \"" + kEndMark + "\" are not in it, in this order"};
  const std::size_t inside = begin + std::string(kBeginMark).size();
  return ddprun::Result<std::string>(boost::system::in_place_value,
                                     page.substr(0, inside) + section + page.substr(end));
}

}  // namespace ddprun::bench
