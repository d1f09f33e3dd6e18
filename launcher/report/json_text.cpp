#include "launcher/report/json_text.h"

#include <boost/json/serialize.hpp>

#include "rendezvous/base/printable.h"

namespace ddprun::report {
namespace {

namespace json = boost::json;

bool holds_objects(const json::value& value) {
  const json::array* array = value.if_array();
  return array != nullptr && !array->empty() && array->front().is_object();
}

std::string lines_of(const json::array& array) {
  std::string text = "[\n";
  for (std::size_t i = 0; i < array.size(); ++i)
    text += "    " + json::serialize(array[i]) + (i + 1 < array.size() ? ",\n" : "\n");
  return text + "  ]";
}

}  // namespace

std::string pretty(const json::object& object) {
  std::string text = "{\n";
  std::size_t left = object.size();
  for (const auto& [name, value] : object) {
    text += "  " + json::serialize(json::string(name)) + ": ";
    text += holds_objects(value) ? lines_of(value.get_array()) : json::serialize(value);
    text += --left > 0 ? ",\n" : "\n";
  }
  return text + "}\n";
}

json::string utf8(std::string_view bytes) {
  const std::string valid = valid_utf8(bytes);
  return json::string(valid.data(), valid.size());
}

json::value text_or_null(std::string_view bytes) {
  return bytes.empty() ? json::value() : json::value(utf8(bytes));
}

json::array texts(const std::vector<std::string>& lines) {
  json::array array;
  array.reserve(lines.size());
  for (const std::string& line : lines) array.emplace_back(utf8(line));
  return array;
}

}  // namespace ddprun::report
