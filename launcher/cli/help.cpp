#include "launcher/cli/help.h"

#include <vector>

#include "launcher/cli/options.h"
#include "launcher/cli/version.h"

namespace ddprun::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kHelpColumn = 26;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) words.push_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

// Appends `text` in lines that begin at `indent`; the cursor already stands at `column`.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent,
                    std::size_t column) {
  bool first = true;
  for (const std::string_view word : words_of(text)) {
    if (!first && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) out += ' ';
    out += word;
    column += word.size() + (first ? 0 : 1);
    first = false;
  }
  out += '\n';
}

void append_option(std::string& out, const Option& option) {
  std::string left = option.letter != 0 ? std::string("  -") + option.letter + ", " : "      ";
  left += written(option);
  if (left.size() + 2 > kHelpColumn)
    left += "\n" + std::string(kHelpColumn, ' ');
  else
    left.resize(kHelpColumn, ' ');
  out += left;
  append_wrapped(out, option.help, kHelpColumn, kHelpColumn);
}

std::string later_names() {
  std::string names;
  for (const Option& option : options()) {
    if (option.availability != Availability::later || option.never_there()) continue;
    if (!names.empty()) names += ", ";
    if (option.letter != 0) names += std::string("-") + option.letter + "/";
    names += "--" + std::string(option.name);
  }
  return names;
}

std::string underscore_spellings() {
  std::string names;
  for (const Option& option : options()) {
    if (option.name.find('-') == std::string_view::npos) continue;
    names += (names.empty() ? "--" : " --") + with_underscores(option.name);
  }
  return names;
}

}  // namespace

std::string help_text() {
  std::string out =
      "Usage: ddprun [options] [--] PROGRAM [arguments...]\n"
      "\n"
      "Starts a group of worker processes on this node, one for each GPU, hosts the\n"
      "store through which they find each other, and says what went wrong if one fails.\n"
      "PROGRAM is executed as it is; NAME.py as ${PYTHON_EXEC:-python3} -u NAME.py.\n"
      "Everything behind PROGRAM is its own; ${local_rank} in it is replaced.\n";
  for (const Heading& heading : headings()) {
    out += "\n" + std::string(heading.title) + ":\n";
    for (const Option& option : options())
      if (option.group == heading.group && option.availability == Availability::ready)
        append_option(out, option);
  }
  if (const std::string later = later_names(); !later.empty()) {
    out += "\nNot available yet (refused by name):\n  ";
    append_wrapped(out, later, 2, 2);
  }
  out +=
      "\nThe default of an option is in its variable, PET_NPROC_PER_NODE=4 for example;\n"
      "the command line wins. Options may be spelled with underscores:\n  ";
  append_wrapped(out, underscore_spellings(), 2, 2);
  return out;
}

}  // namespace ddprun::cli
