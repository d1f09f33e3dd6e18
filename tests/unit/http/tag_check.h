// A small check of HTML and SVG: that its tags are ours, closed in order, and that nothing is left
// open.
#pragma once

#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ddprun::http {

// What is wrong first, empty if nothing is. Knows elements that have no end, takes no comments, and
// wants quotes around attributes and an entity for every &, < and >.
inline std::string html_fault(std::string_view html) {
  static const std::set<std::string> kVoid{"meta", "br", "hr", "link", "img"};
  std::vector<std::string> open;
  for (std::size_t i = 0; i < html.size(); ++i) {
    if (html[i] == '>') return "a '>' outside a tag";
    if (html[i] == '&' && html.substr(i, 7).find(';') == std::string_view::npos) return "a bare &";
    if (html[i] != '<') continue;
    const std::size_t end = html.find('>', i);
    if (end == std::string_view::npos) return "a tag without end";
    std::string_view tag = html.substr(i + 1, end - i - 1);
    i = end;
    if (tag == "!DOCTYPE html") continue;
    const bool closes = tag.starts_with('/');
    if (closes) tag.remove_prefix(1);
    std::string name;
    while (!tag.empty() && std::isalnum(static_cast<unsigned char>(tag.front())) != 0) {
      name += tag.front();
      tag.remove_prefix(1);
    }
    if (name.empty()) return "a '<' that begins no tag";
    if (name == "script") return "a script";
    if (closes) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes what is not open";
      open.pop_back();
      continue;
    }
    for (std::size_t at = tag.find('='); at != std::string_view::npos; at = tag.find('=')) {
      if (at + 1 >= tag.size() || tag[at + 1] != '"') return "an attribute without quotes";
      const std::size_t quote = tag.find('"', at + 2);
      if (quote == std::string_view::npos) return "an attribute without end";
      tag.remove_prefix(quote + 1);
    }
    if (name == "style") {
      i = html.find("</style>", i) - 1;
    }
    const bool is_whole = kVoid.contains(name) || html[end - 1] == '/';
    if (!is_whole) open.push_back(name);
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace ddprun::http
