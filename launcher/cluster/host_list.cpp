#include "launcher/cluster/host_list.h"

#include <algorithm>
#include <cstdint>

#include "launcher/cluster/variables.h"

namespace ddprun::cluster {
namespace {

using Hosts = std::vector<std::string>;

constexpr std::size_t kLongestName = 255;  // of a host, says the DNS

// An environment may hold far more than anybody wants to read.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kShown = 60;
  if (text.size() <= kShown) return "'" + std::string(text) + "'";
  return "'" + std::string(text.substr(0, kShown)) + "...'";
}

Error wrong(std::string_view text, const std::string& why) {
  return Error{excerpt(text) + " is not a list of hosts: " + why};
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

// Where the first part of `text` ends: at `separator` outside of brackets, or at its end. npos
// where the brackets do not match.
std::size_t end_of_part(std::string_view text) {
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == ']') {
      if (inside == (text[at] == '[')) return std::string_view::npos;
      inside = !inside;
    }
    if (text[at] == ',' && !inside) return at;
  }
  return inside ? std::string_view::npos : text.size();
}

// "07" or "01-04".
Result<Hosts> read_range(std::string_view item) {
  const auto dash = item.find('-');
  const std::string_view low = item.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : item.substr(dash + 1);
  const auto first = digits_of(low);
  const auto last = digits_of(high);
  if (!first || !last || low.size() > kLongestName)
    return wrong(item, "a bracket holds numbers and ranges of them");
  if (*last < *first) return wrong(item, "the range runs backwards");
  if (*last - *first >= kMostHosts) return wrong(item, "it stands for too many");
  Hosts names;
  for (std::uint64_t number = *first; number <= *last; ++number) {
    names.push_back(padded(number, low.size()));
    if (number == UINT64_MAX) break;
  }
  return names;
}

// What stands between two brackets.
Result<Hosts> read_ranges(std::string_view text) {
  Hosts all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const Result<Hosts> some = read_range(text.substr(begin, end - begin));
    if (!some) return some.error();
    if (all.size() + some->size() > kMostHosts) return wrong(text, "it stands for too many");
    all.insert(all.end(), some->begin(), some->end());
    begin = end + 1;
  }
  return all;
}

// Each of `heads` followed by each of `tails`.
Result<Hosts> combined(const Hosts& heads, const Hosts& tails, std::string_view part) {
  if (heads.size() * tails.size() > kMostHosts) return wrong(part, "it stands for too many");
  Hosts all;
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) {
      if (head.size() + tail.size() > kLongestName) return wrong(part, "a name is too long");
      all.push_back(head + tail);
    }
  }
  return all;
}

// One name with its brackets, which match.
Result<Hosts> read_part(std::string_view part) {
  Hosts names{""};
  for (std::size_t at = 0; at < part.size();) {
    const bool bracket = part[at] == '[';
    const std::size_t end = std::min(part.find(bracket ? ']' : '[', at), part.size());
    const std::string_view piece =
        part.substr(at + (bracket ? 1 : 0), end - at - (bracket ? 1 : 0));
    const Result<Hosts> tails = bracket ? read_ranges(piece) : Hosts{std::string(piece)};
    if (!tails) return tails.error();
    Result<Hosts> longer = combined(names, *tails, part);
    if (!longer) return longer.error();
    names = std::move(*longer);
    at = end + (bracket ? 1 : 0);
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> read_host_list(std::string_view text) {
  Hosts all;
  for (std::string_view rest = text;;) {
    const std::size_t end = end_of_part(rest);
    if (end == std::string_view::npos) return wrong(text, "its brackets do not match");
    if (end == 0) return wrong(text, "a name is empty");
    const Result<Hosts> some = read_part(rest.substr(0, end));
    if (!some) return some.error();
    if (all.size() + some->size() > kMostHosts) return wrong(text, "it stands for too many");
    all.insert(all.end(), some->begin(), some->end());
    if (end == rest.size()) return all;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace ddprun::cluster
