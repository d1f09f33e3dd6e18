#include "launcher/cli/scanner.h"

#include <optional>

#include "launcher/cli/mpi_names.h"

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

// One flag or option of a word with one dash. The letters behind a flag are further ones: `-mt3`.
Result<Word> take_short(const std::string& word, std::size_t at) {
  const Option* option = find_option(word[at]);
  if (option == nullptr) {
    return Error{"unknown option " + word +
                 "; options of the program go behind its name, ddprun's are in ddprun --help"};
  }
  const std::string rest = word.substr(at + 1);
  if (rest.empty() || (!option->takes_value() && find_option(rest[0]) != nullptr))
    return Word{option, std::nullopt};
  if (!option->takes_value()) {
    const std::string name(option->name);
    return Error{"unknown option " + word + "; -" + word[at] + " (--" + name + ") takes no value"};
  }
  return Word{option, rest.substr(rest[0] == '=' ? 1 : 0)};
}

Error missing_value(const Option& option, const std::string* next) {
  const std::string name = "--" + std::string(option.name);
  const std::string wanted = name + " " + std::string(option.metavar);
  if (next == nullptr) return Error{name + ": its value is missing; write " + wanted};
  return Error{name + ": its value is missing before '" + *next + "'; write " + wanted + ", or " +
               name + "=" + *next + " if that is meant"};
}

// "-1" is a value, and so is the "-x3" of a program that somebody wraps.
bool stands_for_an_option(const std::string& word) {
  return word.starts_with("--") ||
         (word.size() == 2 && word[0] == '-' && find_option(word[1]) != nullptr);
}

// Takes one option, and its value if that is words[i]; `i` is then at the next word.
Result<Given> with_value(const Word& word, const std::vector<std::string>& words, std::size_t& i) {
  const Option& option = *word.option;
  if (word.value && option.metavar.empty()) {
    return Error{"--" + std::string(option.name) + " takes no value, but '" + *word.value +
                 "' was given"};
  }
  if (word.value || !option.takes_value()) return Given{&option, word.value.value_or("1")};
  if (i == words.size()) return missing_value(option, nullptr);
  if (stands_for_an_option(words[i])) return missing_value(option, &words[i]);
  return Given{&option, words[i++]};
}

}  // namespace

Result<Scan> scan(const std::vector<std::string>& words) {
  Scan result;
  std::size_t i = 0;
  while (i < words.size() && is_option(words[i])) {
    const std::string& text = words[i++];
    if (text == "--") {
      result.separator = true;
      break;
    }
    if (const auto instead = in_place_of_mpi_name(text); !instead.empty())
      return Error{"unknown option " + text + "; write " + std::string(instead)};
    const bool is_long = text[1] == '-';
    for (std::size_t at = 1; at < text.size(); ++at) {
      const Result<Word> word = is_long ? take_long(text) : take_short(text, at);
      if (!word) return word.error();
      Result<Given> given = with_value(*word, words, i);
      if (!given) return given.error();
      result.options.push_back(std::move(*given));
      if (result.options.back().option->ends_the_scan()) return result;
      if (is_long || word->option->takes_value()) break;
    }
  }
  result.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  return result;
}

}  // namespace ddprun::cli
