#include "launcher/cli/options.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "rendezvous/base/nearest.h"

namespace ddprun::cli {
namespace {

std::string replaced(std::string_view text, char from, char to) {
  std::string result(text);
  std::ranges::replace(result, from, to);
  return result;
}

// How torchrun's parser counts: each spelling is a string of its own.
std::vector<const Option*> torchrun_matches(std::string_view prefix) {
  std::vector<const Option*> matches;
  for (const Option& option : options()) {
    const std::string_view dashes = option.torchrun_name();
    if (dashes.empty()) continue;
    const std::string underscores = with_underscores(dashes);
    if (dashes.starts_with(prefix)) matches.push_back(&option);
    if (underscores != dashes && underscores.starts_with(prefix)) matches.push_back(&option);
  }
  return matches;
}

std::string names_of(std::vector<const Option*> matches) {
  const auto [first, last] = std::ranges::unique(matches);
  matches.erase(first, last);
  std::string names;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (i > 0) names += i + 1 < matches.size() ? ", " : " or ";
    names += "--" + std::string(matches[i]->torchrun_name());
  }
  return names;
}

}  // namespace

std::span<const Heading> headings() {
  static constexpr Heading kHeadings[] = {
      {Group::job, "Job"},
      {Group::rendezvous, "Rendezvous"},
      {Group::hosts, "Several hosts by one command"},
      {Group::devices, "Devices"},
      {Group::stopping, "Stopping"},
      {Group::output, "Output"},
      {Group::results, "Results"},
      {Group::old_lines, "For old command lines"},
  };
  return kHeadings;
}

std::string written(const Option& option) {
  return "--" + std::string(option.name) + (option.takes_value() ? " " : "") +
         std::string(option.metavar);
}

const Option* find_option(std::string_view name) {
  for (const Option& option : options())
    if (option.name == name || (!name.empty() && option.alias == name)) return &option;
  return nullptr;
}

const Option* find_option(char letter) {
  for (const Option& option : options())
    if (option.letter == letter) return &option;
  return nullptr;
}

Result<const Option*> resolve_option(std::string_view name) {
  const std::string shown = "--" + std::string(name);
  if (const Option* exact = find_option(with_dashes(name))) return exact;
  if (const auto glued = find_glued_option(shown))
    return Error{"'" + shown + "' is more than one word glued together: put a blank before '" +
                 std::string(*glued) + "'"};
  const auto matches = torchrun_matches(name);
  if (matches.size() == 1) return matches.front();
  if (matches.size() > 1) {
    const std::string names = names_of(matches);
    const bool one = std::ranges::count(matches, matches.front()) == std::ssize(matches);
    return Error{shown + " is an abbreviation" + (one ? "" : " of more than one option") +
                 "; write " + names + " in full"};
  }
  const auto blank = name.find_first_of(" \t");
  if (blank != std::string_view::npos && find_option(with_dashes(name.substr(0, blank))))
    return Error{"'" + shown + "' is one word; take away the quotes around it"};
  const std::string_view nearest = nearest_option(with_dashes(name));
  if (!nearest.empty())
    return Error{"unknown option " + shown + "; did you mean --" + std::string(nearest) + "?"};
  return Error{"unknown option " + shown +
               "; options of the program go behind its name, ddprun's are in ddprun --help"};
}

std::string variable_of(const Option& option) {
  if (!option.variable) return {};
  std::string name = "PET_" + with_underscores(option.name);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

std::string with_dashes(std::string_view name) {
  return replaced(name, '_', '-');
}
std::string with_underscores(std::string_view name) {
  return replaced(name, '-', '_');
}

std::string_view nearest_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : options()) {
    names.push_back(option.name);
    if (!option.alias.empty()) names.push_back(option.alias);
  }
  return nearest_of(name, names);
}

std::optional<std::string_view> find_glued_option(std::string_view word) {
  for (auto at = word.find("--", 1); at != std::string_view::npos; at = word.find("--", at + 1)) {
    const std::string_view rest = word.substr(at + 2);
    const std::string_view name =
        rest.substr(0, std::min(rest.find_first_of("= \t"), rest.find("--")));
    if (find_option(with_dashes(name))) return word.substr(at, name.size() + 2);
  }
  return std::nullopt;
}

}  // namespace ddprun::cli
