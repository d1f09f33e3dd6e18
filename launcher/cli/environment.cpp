#include "launcher/cli/environment.h"

namespace ddprun::cli {

Environment::Environment(char** entries) {
  for (; entries != nullptr && *entries != nullptr; ++entries) entries_.emplace_back(*entries);
}

std::optional<std::string_view> Environment::get(std::string_view name) const {
  for (std::string_view entry : entries_) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
      return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::string_view variable_name(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

}  // namespace ddprun::cli
