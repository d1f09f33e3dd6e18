// Why a remote shell did not start ddprun on a host, or has ended early, for the user.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "launcher/hosts/host.h"
#include "launcher/hosts/remote_command.h"
#include "launcher/process/wait_status.h"

namespace ddprun::hosts {

struct FailedShell {
  const RemoteShell& shell;
  const Host& host;
  process::WaitStatus status;          // of ssh, or whatever --rsh is
  std::vector<std::string> said = {};  // its last lines of stderr, and what login scripts have said
  int silent_for = 0;                  // seconds after which it was given up; 0: it ended by itself
  bool greeted = false;                // ddprun runs there
  bool before_hello = true;            // it has not answered
};

// One line, printable, without the host's name: what was said, and what to do or to try by hand.
std::string why(const FailedShell& failed);

}  // namespace ddprun::hosts
