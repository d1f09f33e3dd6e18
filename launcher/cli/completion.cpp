#include "launcher/cli/completion.h"

#include <algorithm>
#include <vector>

#include "launcher/cli/options.h"

namespace ddprun::cli {
namespace {

// What a value can be completed to.
struct Candidates {
  std::string words;   // separated by blanks
  bool files = false;  // any file
  bool folders = false;
};

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Candidates candidates(const Option& option) {
  Candidates found{"", option.metavar == "FILE", option.metavar == "DIR"};
  for (std::string_view rest = option.metavar; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (is_word(item)) found.words += (found.words.empty() ? "" : " ") + std::string(item);
  }
  return found;
}

std::vector<std::string> spellings(const Option& option) {
  std::vector<std::string> all{"--" + std::string(option.name)};
  if (!option.alias.empty()) all.push_back("--" + std::string(option.alias));
  return all;
}

// "-n|--nproc-per-node|--nproc_per_node" and the like: all ways to write it, separated by
// `between`.
std::string all_spellings(const Option& option, const std::string& between) {
  std::string text = option.letter != 0 ? std::string("-") + option.letter + between : "";
  std::vector<std::string> names = spellings(option);
  for (const std::string& name : spellings(option))
    if (const std::string other = "--" + with_underscores(name.substr(2)); other != name)
      names.push_back(other);
  for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? between : "") + names[i];
  return text;
}

// The first sentence of the help, for shells that show one.
std::string summary(const Option& option) {
  const std::string help(option.help);
  std::string text = help.empty() ? "not available yet" : help.substr(0, help.find(". "));
  std::erase_if(text, [](char c) { return c == '\'' || c == '[' || c == ']' || c == '`'; });
  std::ranges::replace(text, ':', ',');
  return text.substr(0, text.find(';'));
}

std::string valued_options(const std::string& between) {
  std::string text;
  for (const Option& option : options())
    if (option.takes_value())
      text += (text.empty() ? "" : between) + all_spellings(option, between);
  return text;
}

std::string bash_values() {
  std::string text;
  for (const Option& option : options()) {
    const Candidates values = candidates(option);
    std::string action;
    if (values.files) action = "compgen -f -- \"$cur\"";
    if (values.folders) action = "compgen -d -- \"$cur\"";
    if (!values.words.empty()) action = "compgen -W '" + values.words + "' -- \"$cur\"";
    if (option.takes_value() && !action.empty())
      text += "    " + all_spellings(option, "|") + ") COMPREPLY=($(" + action + ")) ;;\n";
  }
  return text;
}

std::string option_words(std::string (*spelled)(const std::string&)) {
  std::string text;
  for (const Option& option : options())
    for (const std::string& name : spellings(option)) text += " " + spelled(name);
  return text.substr(1);
}

std::string with_dashes_only(const std::string& name) {
  return name;
}
std::string underscored(const std::string& name) {
  return "--" + with_underscores(name.substr(2));
}

std::string bash_script() {
  return R"(# bash completion of ddprun, made by: ddprun --print-completion bash
_ddprun_value() {
  local cur=$2
  COMPREPLY=()
  case $1 in
)" + bash_values() +
         R"(  esac
}
_ddprun() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i separator=
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
    =) ((++i)) ;;
    --) separator=1; ((++i)); break ;;
    )" + valued_options("|") +
         R"() [[ ${COMP_WORDS[i+1]} == = ]] || ((++i)) ;;
    -*) ;;
    *) break ;;
    esac
  done
  if [[ $cur == = ]]; then
    _ddprun_value "$prev" ''
  elif [[ $prev == = ]]; then
    _ddprun_value "${COMP_WORDS[COMP_CWORD-2]}" "$cur"
  elif ((i > COMP_CWORD)); then
    _ddprun_value "$prev" "$cur"
  elif ((i < COMP_CWORD)); then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$i"
    else
      COMPREPLY=($(compgen -f -- "$cur"))
    fi
  elif [[ -z $separator && $cur == -*_* ]]; then
    COMPREPLY=($(compgen -W ')" +
         option_words(underscored) + R"(' -- "$cur"))
  elif [[ -z $separator && $cur == -* ]]; then
    COMPREPLY=($(compgen -W ')" +
         option_words(with_dashes_only) + R"(' -- "$cur"))
  else
    COMPREPLY=($(compgen -c -f -- "$cur"))
  fi
}
complete -o filenames -o bashdefault -F _ddprun ddprun
)";
}

std::string zsh_action(const Option& option) {
  const Candidates values = candidates(option);
  const std::string what = ":" + std::string(option.name) + ":";
  if (values.files) return what + "_files";
  if (values.folders) return what + "_files -/";
  return what + (values.words.empty() ? " " : "(" + values.words + ")");
}

std::string zsh_script() {
  std::string text =
      "#compdef ddprun\n# zsh completion of ddprun, made by: ddprun --print-completion zsh\n"
      "_arguments -s -S \\\n";
  for (const Option& option : options()) {
    const std::string value = option.takes_value() ? zsh_action(option) : "";
    const std::string help = "[" + summary(option) + "]" + value + "'";
    const std::string star = option.repeatable ? "*" : "";
    for (const std::string& name : spellings(option))
      text += "  '" + star + name + (option.takes_value() ? "=" : "") + help + " \\\n";
    if (option.letter != 0)
      text +=
          std::string("  '-") + option.letter + (option.takes_value() ? "+" : "") + help + " \\\n";
  }
  return text + "  '1:program:_command_names -e' \\\n  '*::arguments:_normal'\n";
}

std::string fish_script() {
  std::string text =
      "# fish completion of ddprun, made by: ddprun --print-completion fish\n"
      "function __ddprun_before_program\n"
      "  set -l words (commandline -opc)\n"
      "  set -l skip 0\n"
      "  for word in $words[2..-1]\n"
      "    if test $skip = 1\n"
      "      set skip 0\n"
      "    else if contains -- $word " +
      valued_options(" ") +
      "\n"
      "      set skip 1\n"
      "    else if test \"$word\" = --; or not string match -q -- '-*' $word\n"
      "      return 1\n"
      "    end\n"
      "  end\n"
      "  return 0\n"
      "end\n";
  for (const Option& option : options()) {
    const Candidates values = candidates(option);
    for (const std::string& name : spellings(option)) {
      text += "complete -c ddprun -n __ddprun_before_program -l " + name.substr(2);
      if (option.letter != 0) text += std::string(" -s ") + option.letter;
      if (option.takes_value()) text += values.files || values.folders ? " -r" : " -x";
      if (values.folders) text += " -a '(__fish_complete_directories)'";
      if (option.takes_value() && !values.words.empty()) text += " -a '" + values.words + "'";
      text += " -d '" + summary(option) + "'\n";
    }
  }
  return text;
}

std::string tcsh_script() {
  std::string text =
      "# tcsh completion of ddprun, made by: ddprun --print-completion tcsh\ncomplete ddprun \\\n";
  for (const Option& option : options()) {
    const Candidates values = candidates(option);
    std::string list = values.files ? "f" : values.folders ? "d" : "";
    if (!values.words.empty()) list = "(" + values.words + ")";
    if (option.takes_value() && !list.empty())
      for (const std::string& name : spellings(option))
        text += "  'n/" + name + "/" + list + "/' \\\n";
  }
  std::string names;
  for (const Option& option : options())
    for (const std::string& name : spellings(option))
      names += (names.empty() ? "" : " ") + name.substr(2);
  return text + "  'c/--/(" + names + ")/' \\\n  'n/*/c/'\n";
}

}  // namespace

std::optional<Shell> shell_named(std::string_view name) {
  if (name == "bash") return Shell::bash;
  if (name == "zsh") return Shell::zsh;
  if (name == "fish") return Shell::fish;
  if (name == "tcsh") return Shell::tcsh;
  return std::nullopt;
}

std::string completion_script(Shell shell) {
  switch (shell) {
    case Shell::bash:
      return bash_script();
    case Shell::zsh:
      return zsh_script();
    case Shell::fish:
      return fish_script();
    case Shell::tcsh:
      return tcsh_script();
  }
  return {};
}

}  // namespace ddprun::cli
