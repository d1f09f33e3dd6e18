#include "samples/common/option_table.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace samples {
namespace {

constexpr const char* kCount = "a whole number from 1 to 1000000";

[[noreturn]] void refuse(const std::string& name, const std::string& expected,
                         const std::string& found) {
  throw std::invalid_argument(name + ": expected " + expected + ", found '" + found + "'");
}

template <typename Number>
Number parse_positive(const std::string& name, const std::string& text,
                      const std::string& expected) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  // Written so that it also refuses NaN.
  if (!all || !(number > 0) || number > Number{1'000'000}) refuse(name, expected, text);
  return number;
}

}  // namespace

void OptionTable::add(const std::string& name, Take take) {
  options_.emplace(name, std::move(take));
}

void OptionTable::text(const std::string& name, std::string& target) {
  add(name, [&target](auto&, auto& text) { target = text; });
}

void OptionTable::count(const std::string& name, int& target) {
  add(name,
      [&target](auto& option, auto& text) { target = parse_positive<int>(option, text, kCount); });
}

void OptionTable::counts(const std::string& name, std::vector<int>& target) {
  add(name, [&target](auto& option, auto& text) {
    target.clear();
    std::istringstream stream(text + ",");
    for (std::string part; std::getline(stream, part, ',');) {
      target.push_back(parse_positive<int>(option, part, kCount));
    }
  });
}

void OptionTable::positive(const std::string& name, double& target) {
  add(name, [&target](auto& option, auto& text) {
    target = parse_positive<double>(option, text, "a number above 0");
  });
}

void OptionTable::word(const std::string& name, std::string& target,
                       const std::vector<std::string>& allowed) {
  add(name, [&target, allowed](auto& option, auto& text) {
    if (std::ranges::find(allowed, text) == allowed.end()) {
      std::string list;
      for (const auto& each : allowed) list += (list.empty() ? "" : " or ") + each;
      refuse(option, list, text);
    }
    target = text;
  });
}

bool OptionTable::parse(const std::vector<std::string>& arguments) const {
  bool help = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word == "--help" || word == "-h") {
      help = true;
      continue;
    }
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto option = options_.find(name);
    if (option == options_.end())
      throw std::invalid_argument("unknown option '" + word + "'; --help lists them");
    if (equals == word.npos && i + 1 == arguments.size())
      throw std::invalid_argument(name + ": expected a value after it");
    const auto value = equals == word.npos ? arguments[++i] : word.substr(equals + 1);
    if (value.empty()) throw std::invalid_argument(name + ": expected a value, found an empty one");
    option->second(name, value);
  }
  return help;
}

}  // namespace samples
