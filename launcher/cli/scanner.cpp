#include "launcher/cli/scanner.h"

#include <optional>

namespace ddprun::cli {
namespace {

// One word taken apart: `-n4` and `--nproc_per_node=4` both are an option with the value 4.
struct Word {
  const Option* option = nullptr;
  std::optional<std::string> value;
};

bool is_option(const std::string& word) {
  return word.size() >= 2 && word[0] == '-';
}

Result<Word> take_long(const std::string& word) {
  const auto equals = word.find('=');
  const auto end = equals == std::string::npos ? word.size() : equals;
  const Result<const Option*> option = resolve_option(word.substr(2, end - 2));
  if (!option) return option.error();
  Word result{*option, std::nullopt};
  if (equals != std::string::npos) result.value = word.substr(equals + 1);
  return result;
}

Result<Word> take_short(const std::string& word) {
  const Option* option = find_option(word[1]);
  if (option == nullptr) {
    return Error{"unknown option " + word +
                 "; options of the program go behind its name, ddprun's are in ddprun --help"};
  }
  if (word.size() == 2) return Word{option, std::nullopt};
  if (!option->takes_value()) {
    const std::string name(option->name);
    return Error{"unknown option " + word + "; -" + word[1] + " (--" + name + ") takes no value"};
  }
  return Word{option, word.substr(word[2] == '=' ? 3 : 2)};
}

Error missing_value(const Option& option, const std::string* next) {
  const std::string name = "--" + std::string(option.name);
  const std::string wanted = name + " " + std::string(option.metavar);
  if (next == nullptr) return Error{name + ": its value is missing; write " + wanted};
  return Error{name + ": its value is missing before '" + *next + "'; write " + wanted + ", or " +
               name + "=" + *next + " if that is meant"};
}

}  // namespace

Result<Scan> scan(const std::vector<std::string>& words) {
  Scan result;
  std::size_t i = 0;
  for (; i < words.size() && is_option(words[i]); ++i) {
    if (words[i] == "--") {
      result.separator = true;
      ++i;
      break;
    }
    Result<Word> word = words[i][1] == '-' ? take_long(words[i]) : take_short(words[i]);
    if (!word) return word.error();
    const Option& option = *word->option;
    if (word->value && option.metavar.empty()) {
      return Error{"--" + std::string(option.name) + " takes no value, but '" + *word->value +
                   "' was given"};
    }
    if (!word->value && option.takes_value()) {
      if (i + 1 == words.size()) return missing_value(option, nullptr);
      if (words[i + 1].starts_with("--")) return missing_value(option, &words[i + 1]);
      word->value = words[++i];
    }
    result.options.push_back({&option, word->value.value_or("1")});
    if (option.ends_the_scan()) return result;
  }
  result.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  return result;
}

}  // namespace ddprun::cli
