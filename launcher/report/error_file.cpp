#include "launcher/report/error_file.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <utility>

namespace ddprun::report {
namespace {

namespace json = boost::json;

const json::value* member(const json::value* value, std::string_view name) {
  const json::object* object = value != nullptr ? value->if_object() : nullptr;
  return object != nullptr ? object->if_contains(name) : nullptr;
}

std::vector<std::string> lines_of(const json::value* value) {
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  if (text == nullptr) return {};
  std::vector<std::string> lines;
  std::string_view rest(text->data(), text->size());
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    lines.emplace_back(rest.substr(0, newline));
    rest.remove_prefix(newline == rest.npos ? rest.size() : newline + 1);
  }
  return lines;
}

std::vector<int> ranks_of(const json::value* value) {
  const json::array* array = value != nullptr ? value->if_array() : nullptr;
  if (array == nullptr) return {};
  std::vector<int> ranks;
  for (const json::value& each : *array) {
    boost::system::error_code error;
    const int rank = each.to_number<int>(error);
    if (!error && rank >= 0) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

ErrorFile parse_error_file(std::string text) {
  ErrorFile result{.text = std::move(text)};
  if (result.text.empty()) return result;
  boost::system::error_code error;
  // A C++ program may well have written bytes that are not UTF-8; they are shown as \xNN.
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  const json::value root = json::parse(result.text, error, {}, options);
  if (error) {
    result.remark = "its error.json is not JSON (" + error.message() + ")";
    return result;
  }
  const json::value* message = member(&root, "message");
  const json::value* inner = member(message, "message");
  result.message = lines_of(inner != nullptr ? inner : message);
  result.callstack = lines_of(member(member(message, "extraInfo"), "py_callstack"));
  result.waited_for = ranks_of(member(member(message, "extraInfo"), "waited_for"));
  if (result.message.empty()) result.remark = "its error.json holds no message";
  return result;
}

std::string with_error_code(const std::string& text, int code) {
  boost::system::error_code error;
  json::value root = json::parse(text, error);
  json::object* const object = error ? nullptr : root.if_object();
  json::value* const message = object != nullptr ? object->if_contains("message") : nullptr;
  if (message == nullptr || !message->is_object()) return text;
  message->get_object()["errorCode"] = code;
  json::value* const extra = message->get_object().if_contains("extraInfo");
  if (extra != nullptr && extra->is_object()) extra->get_object().erase("waited_for");
  return json::serialize(root);
}

}  // namespace ddprun::report
