#include "tests/integration/support/yaml.h"

#include <boost/json/parse.hpp>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace ddprun::test {
namespace {

namespace json = boost::json;

struct Line {
  std::size_t indent = 0;
  std::string text;  // without indentation, comment and blanks at the end
};

[[noreturn]] void fail(const Line& line, const char* why) {
  throw std::runtime_error("YAML: '" + line.text + "': " + why);
}

Line line_of(std::string text) {
  if (const auto comment = text.find(" #"); comment != std::string::npos) text.resize(comment);
  if (text.starts_with('#')) text.clear();
  text.resize(text.find_last_not_of(' ') + 1);
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  return {indent, text.substr(indent)};
}

json::value scalar(const Line& line, std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (text.starts_with('[')) return json::parse(text);
  if (text.find_first_of("{}&*|>\"\t") != std::string_view::npos || text.starts_with('\''))
    fail(line, "this reader does not know that");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  return json::value(text);
}

class Reader {
 public:
  explicit Reader(std::vector<Line> lines) : lines_(std::move(lines)) {}

  json::value document() {
    json::value value = block();
    if (at_ < lines_.size()) fail(lines_[at_], "it is indented wrongly");
    return value;
  }

 private:
  bool is_item(std::size_t indent) const {
    return at_ < lines_.size() && lines_[at_].indent == indent &&
           lines_[at_].text.starts_with("- ");
  }
  json::value block() { return is_item(lines_.at(at_).indent) ? list() : map(); }

  json::value list() {
    json::array items;
    for (const std::size_t indent = lines_[at_].indent; is_item(indent);) {
      lines_[at_] = {indent + 2, lines_[at_].text.substr(2)};
      items.push_back(map());
    }
    return items;
  }

  json::value map() {
    json::object members;
    const std::size_t indent = lines_[at_].indent;
    while (at_ < lines_.size() && lines_[at_].indent == indent &&
           !lines_[at_].text.starts_with("- ")) {
      const Line line = lines_[at_++];
      const auto colon = line.text.find(':');
      if (colon == std::string::npos) fail(line, "it has no key");
      const std::string key = line.text.substr(0, colon);
      if (members.contains(key)) fail(line, "the key comes twice");
      if (colon + 1 < line.text.size()) {
        if (line.text[colon + 1] != ' ') fail(line, "no blank follows the key");
        members[key] = scalar(line, std::string_view(line.text).substr(colon + 2));
      } else {
        if (at_ >= lines_.size() || (lines_[at_].indent <= indent && !is_item(indent)))
          fail(line, "the key has no value");
        members[key] = block();
      }
    }
    return members;
  }

  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<json::value> read_yaml(const std::string& text) {
  std::vector<std::vector<Line>> documents(1);
  std::istringstream stream(text);
  for (std::string each; std::getline(stream, each);) {
    if (each == "---")
      documents.emplace_back();
    else if (Line line = line_of(each); !line.text.empty())
      documents.back().push_back(std::move(line));
  }
  std::vector<json::value> values;
  for (auto& lines : documents)
    if (!lines.empty()) values.push_back(Reader(std::move(lines)).document());
  return values;
}

}  // namespace ddprun::test
