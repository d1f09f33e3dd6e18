#include "tests/integration/support/json_schema.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <regex>
#include <set>
#include <string_view>

namespace ddprun::test {
namespace {

namespace json = boost::json;
using std::string_view_literals::operator""sv;

bool is_type(const json::value& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_int64() || value.is_uint64();
  return type == "number" && value.is_number();
}

bool is_one_of(const json::value& value, const json::value& types) {
  if (types.is_string()) return is_type(value, types.get_string());
  return std::ranges::any_of(
      types.as_array(), [&](const json::value& type) { return is_type(value, type.as_string()); });
}

class Check {
 public:
  explicit Check(const json::value& root) : root_(root) {}

  void value(const json::value& value, const json::object& schema, const std::string& place) {
    for (const auto& [keyword, rule] : schema) {
      if (keyword == "$ref")
        this->value(value, definition(rule.as_string()), place);
      else if (!holds(keyword, rule, value))
        fault(place, std::string(keyword) + " " + json::serialize(rule) + " does not hold for " +
                         json::serialize(value));
    }
    if (const auto* object = value.if_object()) members(*object, schema, place);
    const auto* items = schema.if_contains("items");
    if (items != nullptr && value.is_array())
      for (std::size_t i = 0; i < value.get_array().size(); ++i)
        this->value(value.get_array()[i], items->as_object(), place + "/" + std::to_string(i));
  }

  std::vector<std::string> faults;

 private:
  const json::object& definition(std::string_view name) {
    name.remove_prefix("#/$defs/"sv.size());
    return root_.as_object().at("$defs").as_object().at(name).as_object();
  }

  bool holds(std::string_view keyword, const json::value& rule, const json::value& value) {
    static const std::set<std::string_view> elsewhere{
        "$schema",     "$id",        "$defs",    "title",
        "description", "properties", "required", "additionalProperties",
        "items"};
    if (elsewhere.count(keyword) != 0) return true;
    if (keyword == "type") return is_one_of(value, rule);
    if (keyword == "const") return value == rule;
    if (keyword == "enum")
      return std::ranges::find(rule.as_array(), value) != rule.as_array().end();
    if (keyword == "minimum")
      return !value.is_number() || value.to_number<double>() >= rule.to_number<double>();
    if (keyword == "pattern")
      return !value.is_string() ||
             std::regex_search(value.get_string().c_str(), std::regex(rule.as_string().c_str()));
    return false;
  }

  void members(const json::object& object, const json::object& schema, const std::string& place) {
    const json::object none;
    const auto* given = schema.if_contains("properties");
    const json::object& properties = given != nullptr ? given->as_object() : none;
    if (const auto* required = schema.if_contains("required"))
      for (const json::value& name : required->as_array())
        if (!object.contains(name.as_string())) fault(place, json::serialize(name) + " is missing");
    const auto* additional = schema.if_contains("additionalProperties");
    for (const auto& [name, member] : object) {
      const std::string at = place + "/" + std::string(name);
      if (const auto* rule = properties.if_contains(name))
        value(member, rule->as_object(), at);
      else if (additional != nullptr && additional->is_object())
        value(member, additional->as_object(), at);
      else if (additional != nullptr && !additional->as_bool())
        fault(at, "is not in the schema");
    }
  }

  void fault(const std::string& place, const std::string& text) {
    faults.push_back(place + ": " + text);
  }

  const json::value& root_;
};

}  // namespace

std::vector<std::string> schema_faults(const json::value& value, const json::value& schema) {
  Check check(schema);
  check.value(value, schema.as_object(), "");
  return check.faults;
}

}  // namespace ddprun::test
