#include "tests/integration/torchrun_lines/stage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {
namespace {

namespace fs = std::filesystem;

const std::string kStandIn = DDPRUN_STAND_IN;

std::optional<Record> read_record(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<std::string> texts;
  for (std::string text; std::getline(file, text, '\0');) texts.push_back(text);
  if (texts.empty()) return std::nullopt;
  Record record;
  const auto count = static_cast<std::size_t>(std::stoi(texts[0]));
  record.argv.assign(texts.begin() + 1, texts.begin() + 1 + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 1 + count; i < texts.size(); ++i) {
    const auto equals = texts[i].find('=');
    record.environment[texts[i].substr(0, equals)] = texts[i].substr(equals + 1);
  }
  return record;
}

// Replaces `text` in the first word that ends with it.
bool replace_in_one(std::vector<std::string>& words, const std::string& text,
                    const std::string& by) {
  const auto word =
      std::ranges::find_if(words, [&](const std::string& w) { return w.ends_with(text); });
  if (word == words.end()) return false;
  word->replace(word->size() - text.size(), text.size(), by);
  return true;
}

}  // namespace

std::string Record::script() const {
  if (argv.size() < 3 || argv[0] != kStandIn || argv[1] != "-u") return {};
  return argv[2] == "-m" ? argv.at(3) : argv[2];
}

std::vector<std::string> Record::arguments() const {
  std::ptrdiff_t skipped = 1;
  if (!script().empty()) skipped = argv[2] == "-m" ? 4 : 3;
  return {argv.begin() + skipped, argv.end()};
}

std::string Record::get(const std::string& name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? "(none)" : found->second;
}

Stage::Stage() {
  for (const char* name : {"work", "records", "bin", "tmp"}) fs::create_directory(folder_ / name);
}

void Stage::add_script(const std::string& path) {
  const fs::path full = fs::path(folder_ / "work") / path;
  fs::create_directories(full.parent_path());
  std::ofstream(full) << "#\n";
}

void Stage::add_program(const std::string& name) {
  const bool path = name.find('/') != std::string::npos;
  const fs::path link = path ? fs::path(folder_ / "work") / name : fs::path(folder_ / "bin") / name;
  fs::create_directories(link.parent_path());
  fs::create_symlink(kStandIn, link);
}

Finished Stage::start(const std::vector<std::string>& words,
                      const std::vector<std::string>& environment) {
  std::vector<std::string> all{"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder_ / "work"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<std::string> variables{"STAND_IN_RECORDS=" + (folder_ / "records"),
                                     "PYTHON_EXEC=" + kStandIn, "TMPDIR=" + (folder_ / "tmp"),
                                     "PATH=" + (folder_ / "bin") + ":/usr/bin:/bin"};
  variables.insert(variables.end(), environment.begin(), environment.end());
  // No GPU, whatever this machine has; a line that needs some names the stub.
  if (std::ranges::none_of(environment, [](auto& e) { return e.starts_with("DDPRUN_NVML="); }))
    variables.push_back("DDPRUN_NVML=/nonexistent");
  return test::run(all, {.environment = variables});
}

Finished Stage::run(const std::vector<std::string>& words,
                    const std::vector<std::string>& environment) {
  start({kStandIn}, environment);
  // RANK is a variable of some lines.
  for (const auto& entry : fs::directory_iterator(folder_ / "records")) {
    inherited_ = read_record(entry.path())->environment;
    fs::remove(entry.path());
  }
  Finished end = start(ddprun_words(words), environment);
  // A line has the port that its author chose, and somebody else may have it, or may have had it a
  // minute ago. Nothing was started then, and another port does as well.
  const std::string refusal = "cannot listen on port ";
  std::vector<std::string> again = words;
  for (std::size_t at = 0; (at = end.err.find(refusal)) != std::string::npos;) {
    const std::string taken = std::to_string(std::stoi(end.err.substr(at + refusal.size())));
    if (!replace_in_one(again, taken, std::to_string(LoopbackPort().number()))) break;
    end = start(ddprun_words(again), environment);
  }
  return end;
}

std::optional<Record> Stage::record(int rank) const {
  return read_record(folder_ / "records/" + std::to_string(rank));
}

int Stage::number_of_records() const {
  return static_cast<int>(std::distance(fs::directory_iterator(folder_ / "records"), {}));
}

std::vector<std::string> split_blanks(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace ddprun::test
