// The command that starts ddprun on another host.
//
// Everybody sees a command line in a list of processes, here and there, and it is read by a login
// shell that nobody knows. So it says only which ddprun is to be started; all else goes to that
// ddprun's stdin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/hosts/host.h"

namespace ddprun::hosts {

// The one word with which a ddprun that others have started is called.
inline constexpr std::string_view kStartedByHosts = "--started-by-hosts";

// How another host is reached.
struct RemoteShell {
  std::vector<std::string> words = {"ssh"};  // --rsh; at least one
  std::string remote_ddprun = {};            // --remote-ddprun; empty: as here, or that of PATH
  std::string own_path = {};                 // of this ddprun
};

// Longest wait for ssh's connection, in seconds; the user's own -o ConnectTimeout counts more.
inline constexpr int kConnectSeconds = 10;

// OpenSSH's client, by its name.
bool is_ssh(const RemoteShell& shell);

// The program and its arguments. ssh is never to ask anybody anything (BatchMode), to allocate a
// terminal, or to forward what the user's configuration says; other programs are given the host,
// `-l USER` where there is one, and the command.
std::vector<std::string> remote_command(const RemoteShell& shell, const Host& host);

// The same as a user would write it in a shell.
std::string shown(const std::vector<std::string>& words);

// What a user types to see by hand whether `host` can be reached: "ssh -p 2222 joe@a true".
std::string by_hand(const RemoteShell& shell, const Host& host);

}  // namespace ddprun::hosts
