#include "rendezvous/base/command_of.h"

#include "rendezvous/base/read_file.h"

namespace ddprun {

std::string command_of(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/";
  std::string text = read_file(folder + "cmdline").value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  if (text.empty()) text = read_file(folder + "comm").value_or("?");
  // Whoever named the process chose these bytes; they must not steer the user's terminal.
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace ddprun
