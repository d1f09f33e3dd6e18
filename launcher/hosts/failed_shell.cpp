#include "launcher/hosts/failed_shell.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "launcher/process/exit_codes.h"
#include "rendezvous/base/printable.h"

namespace ddprun::hosts {
namespace {

constexpr int kSshFailed = 255;

// What ssh, a shell or ddprun says, and what it means here.
struct Known {
  std::string_view said;  // lower case
  std::string_view advice;
};
constexpr std::array kKnown{
    Known{"permission denied",
          "no key of yours opens it without a password; put one there with "
          "ssh-copy-id, or load it with ssh-add"},
    Known{"too many authentication failures",
          "name the right key in ~/.ssh/config (IdentityFile, "
          "IdentitiesOnly yes)"},
    Known{"remote host identification has changed",
          "if its key was renewed, remove the old one "
          "with ssh-keygen -R"},
    Known{"host key verification failed",
          "its key is not known yet; connect once by hand and "
          "accept it"},
    Known{"could not resolve hostname", "check the name, or give it in ~/.ssh/config"},
    Known{"connection refused", "no sshd listens there; start it, or give its port (HOST::PORT)"},
    Known{"no route to host", "it is down, or a firewall is between"},
    Known{"timed out", "it is down, or a firewall is between"},
    Known{"unknown option --started-by-hosts",
          "the ddprun there is too old; install the same version, or name "
          "another with --remote-ddprun"},
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool says_something(const std::string& line) {
  return std::ranges::any_of(line, [](unsigned char c) { return std::isalnum(c) != 0; });
}

std::string last_of(const std::vector<std::string>& said) {
  const auto found = std::find_if(said.rbegin(), said.rend(), says_something);
  if (found == said.rend()) return "";
  // ssh ends its lines as a terminal wants them, and draws a frame around a warning.
  std::string line = *found;
  line.erase(line.find_last_not_of(line.starts_with('@') ? "@ \r\n" : "\r\n") + 1);
  line = printable(line.substr(line.starts_with('@') ? line.find_first_not_of("@ ") : 0));
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  return line;
}

// The line that matters need not be the last.
const Known* known_in(const std::vector<std::string>& said, std::string& line) {
  for (const Known& known : kKnown)
    for (const std::string& each : said)
      if (lower(each).find(known.said) != std::string::npos) {
        line = last_of({each});
        return &known;
      }
  return nullptr;
}

std::string name_of(const RemoteShell& shell) {
  const std::string& program = shell.words.front();
  return printable(program.substr(program.rfind('/') + 1));
}

std::string end_of(const FailedShell& failed) {
  const auto& status = failed.status;
  if (status.kind == process::WaitStatus::Kind::signaled)
    return name_of(failed.shell) + " was ended by signal " + std::to_string(status.value);
  return name_of(failed.shell) + " ended with " + std::to_string(status.value);
}

std::string try_by_hand(const FailedShell& failed) {
  return "try by hand: " + by_hand(failed.shell, failed.host);
}

std::string silent_ddprun(const FailedShell& failed) {
  return "no answer within " + std::to_string(failed.silent_for) +
         " s of the ddprun that runs there; it waits for its orders on stdin, which --rsh has to "
         "pass on, or for a file system that hangs";
}

// It may have said itself why, before it ended.
std::string silent_end(const FailedShell& failed, std::string line) {
  static constexpr std::string_view kOurs = "ddprun: ";
  if (line.starts_with(kOurs)) return line.substr(kOurs.size());
  return "ddprun was started there, and ended before it answered (" +
         (line.empty() ? end_of(failed) : line) +
         "); its orders come through stdin, which --rsh has to pass on (`ssh -n` does not)";
}

std::string no_ddprun(const FailedShell& failed, const std::string& line) {
  const std::string said = line.empty() ? "" : " (" + line + ")";
  if (!failed.shell.remote_ddprun.empty())
    return "'" + printable(failed.shell.remote_ddprun) + "' cannot be started there" + said +
           "; check --remote-ddprun";
  return "there is no ddprun" + said +
         "; install it there, or say with --remote-ddprun where it is";
}

}  // namespace

std::string why(const FailedShell& failed) {
  std::string line = last_of(failed.said);
  if (failed.silent_for > 0 && failed.greeted) return silent_ddprun(failed);
  if (failed.silent_for > 0)
    return "no answer within " + std::to_string(failed.silent_for) + " s" +
           (line.empty() ? "" : " (" + line + ")") +
           "; it waits for something, perhaps in a login script; " + try_by_hand(failed);
  if (!failed.before_hello)
    return "the connection was lost (" + (line.empty() ? end_of(failed) : line) +
           "); its workers are stopped there";
  if (failed.greeted) return silent_end(failed, line);
  const bool exited = failed.status.kind == process::WaitStatus::Kind::exited;
  if (exited && (failed.status.value == process::kExitNotFound ||
                 failed.status.value == process::kExitNotExecutable))
    return no_ddprun(failed, line);
  const Known* known = known_in(failed.said, line);
  if (known != nullptr)
    return line + "; " + std::string(known->advice) + "; " + try_by_hand(failed);
  const bool of_ssh = exited && failed.status.value == kSshFailed && !line.empty();
  return (of_ssh ? line : end_of(failed) + (line.empty() ? "" : ": " + line)) + "; " +
         try_by_hand(failed);
}

}  // namespace ddprun::hosts
