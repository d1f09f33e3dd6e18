#include "launcher/cli/line_texts.h"

#include <algorithm>
#include <cctype>

#include "rendezvous/base/nearest.h"

namespace ddprun::cli {
namespace {

constexpr std::string_view kFields[] = {"rank",    "local_rank", "role_name", "hostname",
                                        "attempt", "stream",     "time"};

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The name at the beginning of `text`, which stood behind a `$`; empty where there is none.
std::string_view field_name(std::string_view text) {
  if (text.starts_with('{')) {
    const auto close = text.find('}');
    return close == std::string_view::npos ? std::string_view() : text.substr(1, close - 1);
  }
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) return {};
  return text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_name_char) - text.begin()));
}

}  // namespace

std::vector<std::string> unknown_fields(std::string_view text) {
  std::vector<std::string> unknown;
  for (auto at = text.find('$'); at < text.size(); at = text.find('$', at)) {
    ++at;
    if (text.substr(at).starts_with('$')) {
      ++at;
      continue;
    }
    const std::string_view name = field_name(text.substr(at));
    const bool empty_braces = text.substr(at).starts_with("{}");
    if (name.empty() && !empty_braces) continue;
    if (std::ranges::find(kFields, name) == std::end(kFields)) unknown.emplace_back(name);
  }
  return unknown;
}

std::string unknown_field_text(const std::string& field) {
  std::string all;
  for (const std::string_view name : kFields) all += " ${" + std::string(name) + "}";
  const std::string_view nearest = nearest_of(field, kFields);
  return "'${" + field + "}' is not a field" +
         (nearest.empty() ? "" : "; did you mean ${" + std::string(nearest) + "}?") +
         (nearest.empty() ? "; there are" : " There are") + all;
}

std::vector<std::string> read_filters(std::string_view text) {
  std::vector<std::string> filters(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != ',') {
      filters.back() += text[at];
    } else if (text.substr(at + 1).starts_with(',')) {
      filters.back() += ',';
      ++at;
    } else {
      filters.emplace_back();
    }
  }
  std::erase(filters, "");
  return filters;
}

}  // namespace ddprun::cli
