// The hosts on which the user wants ddprun to start itself, as given: nobody has read a file yet.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ddprun::cli {

struct HostsSpec {
  std::optional<std::string> list;         // --hosts
  std::optional<std::string> file;         // --hostfile, as given
  std::string label;                       // how one of them was given: "--hosts", "PET_HOSTFILE"
  std::vector<std::string> rsh = {"ssh"};  // --rsh as words; at least one
  std::string remote_ddprun;               // --remote-ddprun; empty: find it there
  std::vector<std::string> exports;        // -x, each as given

  bool asked() const { return list || file; }
};

}  // namespace ddprun::cli
