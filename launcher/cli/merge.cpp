#include "launcher/cli/merge.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <map>
#include <set>

#include "launcher/cli/values.h"

namespace ddprun::cli {
namespace {

namespace po = boost::program_options;

using Values = std::map<std::string, std::string>;  // by the name of the option

// Only what is there: a description of the whole table takes longer than everything else that is
// done with a command line.
po::options_description describe(const std::vector<const Values*>& sources) {
  std::set<std::string_view> names;
  for (const Values* values : sources)
    for (const auto& [name, value] : *values) names.insert(name);
  po::options_description description;
  for (const std::string_view name : names)
    description.add_options()(std::string(name).c_str(), po::value<std::string>());
  return description;
}

// Of an option that was stored before, nothing changes.
void store(const Values& values, const po::options_description& description,
           po::variables_map& map) {
  po::parsed_options parsed(&description);
  for (const auto& [name, value] : values)
    parsed.options.emplace_back(name, std::vector<std::string>{value});
  po::store(parsed, map);
}

// On a command line the last one counts.
Values of_command_line(const std::vector<Given>& given) {
  Values values;
  for (const Given& one : given) values.insert_or_assign(std::string(one.option->name), one.value);
  return values;
}

Values of_variables(const Environment& environment) {
  Values values;
  for (const Option& option : options()) {
    const std::string variable = variable_of(option);
    if (variable.empty()) continue;
    if (const auto value = environment.get(variable)) values.emplace(option.name, *value);
  }
  return values;
}

Values of_torch_variables(const Environment& environment) {
  Values values;
  for (const Option& option : options()) {
    if (option.second_variable.empty()) continue;
    const auto value = environment.get(option.second_variable);
    // Torchrun takes an empty template for none.
    if (value && !(option.free_text && value->empty())) values.emplace(option.name, *value);
  }
  return values;
}

// What makes what meaningless. `value` empty: the winner is a flag, and on.
struct Rule {
  std::string_view winner;
  std::string_view value;
  std::vector<std::string_view> losers;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {"standalone",
       "",
       {"master-addr", "master-port", "rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf",
        "node-rank", "local-addr", "cluster"}},
      {"device", "cpu", {"oversubscribe", "simulate-gpus"}},
      {"use-env", "", {"pass-local-rank"}},
      {"run-path", "", {"no-python"}},
  };
  return all;
}

const Setting* find(const std::vector<Setting>& settings, std::string_view name) {
  const auto it =
      std::ranges::find(settings, name, [](const Setting& s) { return s.option->name; });
  return it == settings.end() ? nullptr : &*it;
}

bool holds(const Setting* setting, std::string_view value) {
  if (setting == nullptr) return false;
  if (!value.empty()) return setting->value == value;
  const Result<bool> on = read_boolean(setting->value);
  return on && *on;
}

// What asks for nothing goes without a word: a flag that is off (PET_X=0), --node-rank 0, --cluster
// none.
bool asks_for_nothing(const Setting& setting) {
  if (setting.option->name == "node-rank") return setting.value == "0";
  if (setting.option->name == "cluster") return setting.value == "none";
  const Result<bool> on = read_boolean(setting.value);
  return setting.option->metavar.empty() && on && !*on;
}

// What --cluster says of the nodes is not known yet.
bool certainly_one_node(const std::vector<Setting>& settings) {
  const Setting* nodes = find(settings, "nnodes");
  const Setting* engine = find(settings, "cluster");
  const Result<NodeRange> range = nodes == nullptr ? NodeRange{} : read_nodes(nodes->value);
  return range && range->max == 1 && (engine == nullptr || engine->value == "none");
}

// Removes the losers that are there.
std::string take_out(std::vector<Setting>& settings, const std::vector<std::string_view>& losers) {
  std::string labels;
  std::string_view last;
  std::erase_if(settings, [&](const Setting& setting) {
    if (std::ranges::find(losers, setting.option->name) == losers.end()) return false;
    const bool again = setting.option->name == last;  // it is repeatable
    last = setting.option->name;
    if (!again && !asks_for_nothing(setting))
      labels += (labels.empty() ? "" : ", ") + setting.label;
    return true;
  });
  return labels;
}

std::string shown(const Setting& winner) {
  return winner.option->metavar.empty() ? winner.label : winner.label + " " + winner.value;
}

// The last value, or all of them where the option is repeatable.
void add_typed(const std::vector<Given>& given, const Option& option, const std::string& last,
               std::vector<Setting>& settings) {
  const std::string label = "--" + std::string(option.name);
  if (!option.repeatable) {
    settings.push_back({&option, last, label, false});
    return;
  }
  for (const Given& one : given)
    if (one.option == &option) settings.push_back({&option, one.value, label, false});
}

}  // namespace

std::string written(const Setting& setting) {
  if (setting.from_variable) return setting.label + "=" + setting.value;
  return setting.label + (setting.option->takes_value() ? " " + setting.value : "");
}

std::vector<Setting> merge(const std::vector<Given>& given, const Environment& environment) {
  const Values typed = of_command_line(given);
  const Values variables = of_variables(environment);
  const Values torch_variables = of_torch_variables(environment);
  const auto description = describe({&typed, &variables, &torch_variables});
  po::variables_map map;
  // What is stored later counts less.
  for (const Values* values : {&typed, &variables, &torch_variables})
    store(*values, description, map);
  std::vector<Setting> settings;
  for (const Option& option : options()) {
    const std::string name(option.name);
    const auto found = map.find(name);
    if (found == map.end()) continue;
    const auto& value = found->second.as<std::string>();
    if (typed.contains(name))
      add_typed(given, option, value, settings);
    else
      settings.push_back(
          {&option, value,
           variables.contains(name) ? variable_of(option) : std::string(option.second_variable),
           true});
  }
  return settings;
}

std::vector<std::string> drop_meaningless(std::vector<Setting>& settings) {
  std::vector<std::string> lines;
  for (const Rule& rule : rules()) {
    const Setting* winner = find(settings, rule.winner);
    if (!holds(winner, rule.value)) continue;
    const std::string name = shown(*winner);
    const std::string losers = take_out(settings, rule.losers);
    if (!losers.empty()) lines.push_back(losers + ": meaningless with " + name + ", ignored");
  }
  if (certainly_one_node(settings) && holds(find(settings, "rdzv-backend"), "c10d")) {
    const std::string rank = take_out(settings, {"node-rank"});
    if (!rank.empty())
      lines.push_back(rank + ": meaningless with " + shown(*find(settings, "rdzv-backend")) +
                      ", ignored");
    const std::string alone = take_out(settings, {"rdzv-endpoint"});
    if (!alone.empty()) lines.push_back(alone + ": meaningless with one node, ignored");
  }
  if (find(settings, "rdzv-endpoint") != nullptr) {
    const std::string losers = take_out(settings, {"master-addr", "master-port"});
    if (!losers.empty()) lines.push_back(losers + ": meaningless with --rdzv-endpoint, ignored");
  }
  return lines;
}

std::vector<std::string> unknown_variables(const Environment& environment) {
  std::vector<std::string> lines;
  for (const std::string& entry : environment.entries()) {
    const std::string_view name = variable_name(entry);
    if (!name.starts_with("PET_")) continue;
    const auto has_it = [&](const Option& option) { return variable_of(option) == name; };
    if (std::ranges::any_of(options(), has_it)) continue;
    std::string option = with_dashes(name.substr(4));
    std::ranges::transform(option, option.begin(), [](unsigned char c) { return std::tolower(c); });
    const Option* near = find_option(nearest_option(option));
    const std::string meant = near == nullptr ? "" : variable_of(*near);
    lines.push_back(std::string(name) + ": no option has this variable, ignored" +
                    (meant.empty() ? "" : "; did you mean " + meant + "?"));
  }
  return lines;
}

}  // namespace ddprun::cli
