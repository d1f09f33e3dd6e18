#include "tests/integration/torchrun_lines/line.h"

#include <algorithm>
#include <fstream>

#include "tests/integration/torchrun_lines/stage.h"

namespace ddprun::test {
namespace {

namespace json = boost::json;

// "torchrun" and "python -m torch.distributed.run" become nothing, the old launcher the option with
// which programs for it are started.
std::vector<std::string> words_for_ddprun(std::vector<std::string> argv) {
  if (argv[0] == "torchrun") return {argv.begin() + 1, argv.end()};
  const auto module = std::ranges::find(argv, "-m") + 1;
  std::vector<std::string> words{module + 1, argv.end()};
  if (*module == "torch.distributed.launch") words.insert(words.begin(), "--pass-local-rank");
  return words;
}

Line read_line(const std::string& text) {
  const json::object object = json::parse(text).as_object();
  Line line;
  line.id = json::value_to<std::string>(object.at("id"));
  line.environment = split_blanks(json::value_to<std::string>(object.at("env")));
  line.words = words_for_ddprun(texts_of(object.at("argv")));
  line.kind = json::value_to<std::string>(object.at("torchrun").at("kind"));
  if (const auto* parsed = object.if_contains("parsed")) line.parsed = parsed->as_object();
  if (const auto* ranks = object.if_contains("ranks")) line.ranks = ranks->as_array();
  return line;
}

}  // namespace

std::string Line::option(const std::string& name) const {
  const json::value* value = parsed.if_contains(name);
  if (value == nullptr) return {};
  return value->is_string() ? json::value_to<std::string>(*value) : json::serialize(*value);
}

std::vector<std::string> Line::script_arguments() const {
  const json::value* value = parsed.if_contains("training_script_args");
  return value == nullptr ? std::vector<std::string>() : texts_of(*value);
}

bool Line::several_nodes() const {
  const std::string nodes = option("nnodes");
  return !nodes.empty() && nodes != "1:1" && nodes != "1";
}

void PrintTo(const Line& line, std::ostream* out) {
  *out << line.id << ":";
  for (const std::string& word : line.words) *out << " '" << word << "'";
}

std::vector<std::string> texts_of(const json::value& array) {
  return json::value_to<std::vector<std::string>>(array);
}

std::vector<Line> read_lines() {
  std::ifstream file(DDPRUN_TORCHRUN_LINES);
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) lines.push_back(read_line(text));
  return lines;
}

}  // namespace ddprun::test
