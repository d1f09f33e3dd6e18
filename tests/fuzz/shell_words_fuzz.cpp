// Any text as a command that is split as a shell would: the words, quoted and joined, are split
// into the same words again.
#include <cstdint>

#include "launcher/cli/shell_words.h"
#include "tests/fuzz/checks.h"

namespace {

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// With a backslash before each character; a word has at least one.
std::string escaped(const std::string& word) {
  std::string text;
  for (const char c : word) text += {'\\', c};
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ddprun;
  const std::string_view text = fuzz::view_of(data, size);
  const auto words = cli::split_words(text);
  if (!words) {
    fuzz::require(fuzz::is_one_line(words.error().text));
    return 0;
  }
  std::string in_quotes, with_escapes;
  for (const std::string& word : *words) {
    in_quotes += quoted(word) + "\t";
    with_escapes += (word.empty() ? "\"\"" : escaped(word)) + " \n";
  }
  const auto same = cli::split_words(in_quotes), same_again = cli::split_words(with_escapes);
  fuzz::require(same && *same == *words && same_again && *same_again == *words);
  return 0;
}
