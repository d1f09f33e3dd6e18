#include "launcher/cli/signal_list.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <optional>

#include "rendezvous/base/nearest.h"

namespace ddprun::cli {
namespace {

struct Name {
  std::string_view name;
  int number;
};

// The first name of a number is the one that is shown.
constexpr Name kNames[] = {
    {"SIGTERM", SIGTERM},   {"SIGINT", SIGINT},   {"SIGHUP", SIGHUP},   {"SIGQUIT", SIGQUIT},
    {"SIGUSR1", SIGUSR1},   {"SIGUSR2", SIGUSR2}, {"SIGALRM", SIGALRM}, {"SIGABRT", SIGABRT},
    {"SIGPIPE", SIGPIPE},   {"SIGXCPU", SIGXCPU}, {"SIGXFSZ", SIGXFSZ}, {"SIGVTALRM", SIGVTALRM},
    {"SIGPROF", SIGPROF},   {"SIGIO", SIGIO},     {"SIGPWR", SIGPWR},   {"SIGURG", SIGURG},
    {"SIGWINCH", SIGWINCH}, {"SIGTRAP", SIGTRAP}, {"SIGSYS", SIGSYS},   {"SIGSTKFLT", SIGSTKFLT},
    {"SIGPOLL", SIGPOLL},   {"SIGIOT", SIGIOT},   {"SIGKILL", SIGKILL}, {"SIGSTOP", SIGSTOP},
    {"SIGCHLD", SIGCHLD},   {"SIGCONT", SIGCONT}, {"SIGTSTP", SIGTSTP}, {"SIGTTIN", SIGTTIN},
    {"SIGTTOU", SIGTTOU},   {"SIGSEGV", SIGSEGV}, {"SIGBUS", SIGBUS},   {"SIGFPE", SIGFPE},
    {"SIGILL", SIGILL},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::string full_name(std::string_view text) {
  std::string name(text);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name.starts_with("SIG") ? name : "SIG" + name;
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) {
    // The library keeps the first real-time signals of the kernel for itself.
    const bool there =
        number >= 1 && number <= SIGRTMAX && (number <= SIGSYS || number >= SIGRTMIN);
    return there ? std::optional(number) : std::nullopt;
  }
  const std::string name = full_name(text);
  if (name == "SIGRTMIN") return SIGRTMIN;
  if (name == "SIGRTMAX") return SIGRTMAX;
  const auto found = std::ranges::find(kNames, name, &Name::name);
  return found == std::end(kNames) ? std::nullopt : std::optional(found->number);
}

// Why a signal cannot be in the list; null when it can.
const char* objection(int signal) {
  switch (signal) {
    case SIGKILL:
    case SIGSTOP:
      return "cannot be caught by any program";
    case SIGCHLD:
    case SIGCONT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return "is needed by ddprun itself";
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
      return "reports a fault of ddprun itself";
    default:
      return nullptr;
  }
}

Result<int> read_signal(std::string_view text) {
  const auto number = number_of(text);
  const std::string word = "'" + std::string(text) + "'";
  if (!number) {
    std::vector<std::string_view> names;
    for (const Name& name : kNames) names.push_back(name.name);
    const std::string_view nearest = nearest_of(full_name(text), names);
    const bool alike = !nearest.empty() && !std::isdigit(static_cast<unsigned char>(text[0]));
    return Error{word + " is not a signal; " +
                 (alike ? "did you mean " + std::string(nearest) + "?"
                        : "write a list such as SIGTERM,SIGINT,SIGUSR1")};
  }
  if (const char* why = objection(*number))
    return Error{word + " " + why + "; write a list such as SIGTERM,SIGINT,SIGUSR1"};
  return *number;
}

}  // namespace

Result<std::vector<int>> read_signals(std::string_view text) {
  std::vector<int> signals;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (word.empty())
      return Error{"'" + std::string(text) +
                   "' has an empty name in it; write a list such as SIGTERM,SIGINT,SIGUSR1"};
    const Result<int> signal = read_signal(word);
    if (!signal) return signal.error();
    if (std::ranges::find(signals, *signal) == signals.end()) signals.push_back(*signal);
  }
  return signals;
}

std::string signal_list_text(const std::vector<int>& signals) {
  std::string text;
  for (const int signal : signals) {
    const auto found = std::ranges::find(kNames, signal, &Name::number);
    const std::string number = std::to_string(signal);
    text +=
        (text.empty() ? "" : ",") + std::string(found == std::end(kNames) ? number : found->name);
  }
  return text;
}

}  // namespace ddprun::cli
