#include "launcher/cluster/slurm_node.h"

#include <algorithm>

namespace ddprun::cluster {
namespace {

// Of "10.0.0.1:foo" or "[fd00::2]:bar".
std::optional<std::string> first_field(std::string_view text) {
  const bool brackets = text.starts_with('[');
  const std::size_t end = text.find(brackets ? ']' : ':');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view field = brackets ? text.substr(1, end - 1) : text.substr(0, end);
  return field.empty() ? std::nullopt : std::optional<std::string>(field);
}

}  // namespace

std::optional<std::string> node_address(std::string_view text) {
  constexpr std::string_view kKey = " NodeAddr=";
  const std::size_t at = text.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + kKey.size());
  const std::string value(rest.substr(0, rest.find_first_of(" \n")));
  return value.empty() || value == "(null)" ? std::nullopt : std::optional(value);
}

bool is_no_such_node(std::string_view text) {
  return text.find("not found") != std::string_view::npos;
}

std::optional<std::string> alias_address(std::string_view aliases, std::string_view node) {
  for (std::size_t begin = 0; begin < aliases.size();) {
    const std::size_t end = std::min(aliases.find(',', begin), aliases.size());
    const std::string_view alias = aliases.substr(begin, end - begin);
    if (alias.size() > node.size() && alias.starts_with(node) && alias[node.size()] == ':')
      return first_field(alias.substr(node.size() + 1));
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace ddprun::cluster
