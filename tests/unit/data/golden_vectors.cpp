#include "tests/unit/data/golden_vectors.h"

#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ddprun {
namespace {

namespace json = boost::json;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::string text_of(const json::value& value) {
  return json::value_to<std::string>(value);
}

GoldenStep read_step(const json::value& value) {
  const std::string who = text_of(value.at(0));
  return {who.at(0), static_cast<GoldenStep::Kind>(who.at(1)), from_hex(text_of(value.at(1)))};
}

}  // namespace

std::vector<GoldenVector> read_golden_vectors() {
  std::ifstream file(GOLDEN_VECTORS);
  if (!file) throw std::runtime_error("cannot read " GOLDEN_VECTORS);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<GoldenVector> vectors;
  const json::value document = json::parse(text);
  for (const json::value& value : document.as_array()) {
    GoldenVector vector{text_of(value.at("id")), text_of(value.at("text")), {}};
    for (const json::value& step : value.at("steps").as_array()) {
      vector.steps.push_back(read_step(step));
    }
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

}  // namespace ddprun
