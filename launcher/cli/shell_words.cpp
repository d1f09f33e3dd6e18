#include "launcher/cli/shell_words.h"

#include <optional>

namespace ddprun::cli {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// What a backslash in double quotes takes its meaning from.
bool is_special(char c) {
  return c == '"' || c == '\\' || c == '$' || c == '`';
}

// Reads what is quoted behind the opening quote at text[at - 1]; `at` ends behind the closing one.
// False when there is none.
bool read_quoted(std::string_view text, std::size_t& at, std::string& word) {
  const char quote = text[at - 1];
  for (; at < text.size(); ++at) {
    if (text[at] == quote) return ++at, true;
    if (quote == '"' && text[at] == '\\' && at + 1 < text.size() && is_special(text[at + 1])) ++at;
    word += text[at];
  }
  return false;
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // one that is being read; '' is a word as well
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (is_blank(c)) {
      if (word) words.push_back(std::move(*word));
      word.reset();
      continue;
    }
    if (!word) word.emplace();
    if (c == '\'' || c == '"') {
      if (!read_quoted(text, at, *word))
        return Error{std::string("the quote ") + c + " is not closed"};
    } else if (c == '\\') {
      if (at == text.size()) return Error{"nothing is behind the backslash at its end"};
      *word += text[at++];
    } else {
      *word += c;
    }
  }
  if (word) words.push_back(std::move(*word));
  return words;
}

}  // namespace ddprun::cli
