#include "tests/integration/manual_examples/example.h"

#include <span>
#include <string_view>
#include <utility>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

constexpr std::string_view kAnyText = "…", kAnyLines = "...";
constexpr std::string_view kExitCode = "[exit code ";
constexpr std::string_view kPort = "--master-port ";
constexpr std::string_view kPrompt = "$ ", kBackground = " &";

void replace_all(const std::string& old, const std::string& by, std::string& text) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
}

bool fits(std::string_view pattern, std::string_view line) {
  const std::size_t any = pattern.find(kAnyText);
  if (any == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, any))) return false;
  const std::string_view rest = pattern.substr(any + kAnyText.size());
  for (std::size_t at = any; at <= line.size(); ++at)
    if (fits(rest, line.substr(at))) return true;
  return false;
}

bool fit(std::span<const std::string> pattern, std::span<const std::string> lines) {
  if (pattern.empty()) return lines.empty();
  if (pattern[0] == kAnyLines) {
    for (std::size_t skipped = 0; skipped <= lines.size(); ++skipped)
      if (fit(pattern.subspan(1), lines.subspan(skipped))) return true;
    return false;
  }
  return !lines.empty() && fits(pattern[0], lines[0]) && fit(pattern.subspan(1), lines.subspan(1));
}

// Where the prompt of a line is, behind the name of a host or at the start; npos: there is none.
std::size_t prompt_of(const std::string& line) {
  const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789");
  return end != std::string::npos && line.compare(end, kPrompt.size(), kPrompt) == 0
             ? end
             : std::string::npos;
}

void read_command(std::string command, Example& example) {
  example.background = command.ends_with(kBackground);
  if (example.background) command.resize(command.size() - kBackground.size());
  example.command = std::move(command);
}

}  // namespace

void use_port(const std::string& port, Example& example) {
  const std::size_t option = example.command.find(kPort);
  if (option == std::string::npos) return;
  const std::size_t begin = option + kPort.size();
  const std::size_t end = example.command.find_first_not_of("0123456789", begin);
  const std::string old = example.command.substr(begin, end - begin);
  if (old.empty()) return;
  replace_all(old, port, example.command);
  for (std::string& line : example.output) replace_all(old, port, line);
}

bool shows(const std::vector<std::string>& pattern, const std::vector<std::string>& lines) {
  return fit(pattern, lines);
}

std::vector<Example> examples_in(const std::string& page) {
  std::vector<Example> examples;
  bool inside = false;
  int number = 0, block = -1;
  for (const std::string& line : lines(page)) {
    ++number;
    if (line.starts_with("```")) {
      inside = line == "```console";
      block += inside ? 1 : 0;
    } else if (const std::size_t host = prompt_of(line); inside && host != std::string::npos) {
      examples.push_back({.line = number, .block = block, .host = line.substr(0, host)});
      read_command(line.substr(host + kPrompt.size()), examples.back());
    } else if (inside && line.starts_with(kExitCode)) {
      examples.back().exit_code = std::stoi(line.substr(kExitCode.size()));
    } else if (inside) {
      examples.back().output.push_back(line);
    }
  }
  return examples;
}

std::vector<std::string> blocks_of(const std::string& language, const std::string& page) {
  std::vector<std::string> blocks;
  bool inside = false;
  for (const std::string& line : lines(page)) {
    if (line.starts_with("```")) {
      inside = line == "```" + language;
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

}  // namespace ddprun::test
