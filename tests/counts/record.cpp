#include "tests/counts/record.h"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <cstdio>

#include "tests/with_commas.h"

namespace ddprun::counts {
namespace {

namespace json = boost::json;

constexpr char kRenew[] = "./dev counts --record renews the record";

std::string percent(double change) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%+.1f %%", 100 * change);
  return text.data();
}

template <class Map>
std::string lines_of(const Map& map) {
  std::string text;
  for (const auto& [name, value] : map)
    text += (text.empty() ? "" : ",\n") + ("    " + json::serialize(json::value(name))) + ": " +
            json::serialize(json::value(value));
  return "{\n" + text + "\n  }";
}

}  // namespace

Result<Record> parse_record(std::string_view text) try {
  const json::value value = json::parse(text);
  Record record;
  for (const auto& [name, what] : value.at("built_with").as_object())
    record.built_with.emplace(name, what.as_string());
  for (const auto& [name, count] : value.at("instructions").as_object())
    record.instructions.emplace(name, count.to_number<std::uint64_t>());
  return record;
} catch (const std::exception& error) {
  return Error{std::string("the record cannot be read: ") + error.what()};
}

std::string to_json(const Record& record) {
  return "{\n  \"built_with\": " + lines_of(record.built_with) +
         ",\n  \"instructions\": " + lines_of(record.instructions) + "\n}\n";
}

std::optional<std::string> not_comparable(const BuiltWith& recorded, const BuiltWith& here) {
  std::string text;
  for (const auto& [name, what] : here) {
    const auto found = recorded.find(name);
    const std::string before = found == recorded.end() ? "nothing" : found->second;
    if (before == what) continue;
    text +=
        (text.empty() ? "" : "; ") + ("recorded with " + name) + " " + before + ", this is " + what;
  }
  if (text.empty()) return std::nullopt;
  return text;
}

Verdict compare(const Record& record, const std::string& workload, std::uint64_t instructions) {
  using Kind = Verdict::Kind;
  const std::string text =
      workload + ": " + with_commas(std::to_string(instructions)) + " instructions, ";
  const auto found = record.instructions.find(workload);
  if (found == record.instructions.end() || found->second == 0)
    return {Kind::unrecorded, text + "and no record of it; " + kRenew};
  const auto before = static_cast<double>(found->second);
  const double change = static_cast<double>(instructions) / before - 1;
  const std::string beside =
      text + percent(change) + " beside the recorded " + with_commas(std::to_string(found->second));
  if (change > kTolerance)
    return {Kind::worse,
            beside + "; find out why with callgrind_annotate. If it must be so, " + kRenew};
  if (change < -kTolerance) return {Kind::better, beside + ": better; " + kRenew};
  return {Kind::same, beside};
}

}  // namespace ddprun::counts
