#include "launcher/hosts/remote_command.h"

#include <algorithm>
#include <cctype>

namespace ddprun::hosts {
namespace {

// Means itself to every shell.
bool is_plain(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./+,:=@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// `sh` does what csh, fish and others would each want in other words. Between the single quotes,
// which all of them know, stands nothing that any of them would look at.
std::string start_of_ddprun(const RemoteShell& shell) {
  const std::string mode = " " + std::string(kStartedByHosts);
  if (!shell.remote_ddprun.empty())
    return "exec " +
           (is_plain(shell.remote_ddprun) ? shell.remote_ddprun : shown({shell.remote_ddprun})) +
           mode;
  if (!is_plain(shell.own_path)) return "exec ddprun" + mode;
  return "exec /bin/sh -c 'test -x " + shell.own_path + " && exec " + shell.own_path + mode +
         "; exec ddprun" + mode + "'";
}

std::string destination(const Host& host) {
  return host.user.empty() ? host.name : host.user + "@" + host.name;
}

}  // namespace

bool is_ssh(const RemoteShell& shell) {
  const std::string& program = shell.words.front();
  return program.substr(program.rfind('/') + 1) == "ssh";
}

std::vector<std::string> remote_command(const RemoteShell& shell, const Host& host) {
  std::vector<std::string> words = shell.words;
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  if (!is_ssh(shell)) {
    if (!host.user.empty()) add({"-l", host.user});
    if (host.port) add({"-p", std::to_string(*host.port)});
    add({host.name, start_of_ddprun(shell)});
    return words;
  }
  // Of an option that is there twice ssh takes the first: the user's.
  add({"-T", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=" + std::to_string(kConnectSeconds),
       "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "-o",
       "ClearAllForwardings=yes", "-o", "EscapeChar=none"});
  if (host.port) add({"-p", std::to_string(*host.port)});
  add({destination(host), start_of_ddprun(shell)});
  return words;
}

std::string shown(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (is_plain(word)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::string by_hand(const RemoteShell& shell, const Host& host) {
  std::vector<std::string> words = shell.words;
  if (host.port) {
    words.push_back("-p");
    words.push_back(std::to_string(*host.port));
  }
  words.push_back(destination(host));
  words.push_back("true");
  return shown(words);
}

}  // namespace ddprun::hosts
