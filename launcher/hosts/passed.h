// What of the user's command line and environment the ddprun of another host gets.
//
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/cli/job_spec.h"
#include "launcher/cli/scanner.h"
#include "launcher/hosts/host.h"
#include "rendezvous/base/result.h"

namespace ddprun::hosts {

// "NAME=value" of all that goes there: what `exports` (-x NAME, NAME=VALUE, NAME*) asks for, and
// without being asked PATH, LD_LIBRARY_PATH, ddprun's own variables, and those that tell Python,
// PyTorch, NCCL, Gloo and UCX how to work. An Error where a NAME is not set here.
Result<std::vector<std::string>> passed_environment(const std::vector<std::string>& exports,
                                                    const cli::Environment& here);

// The environment of a process there: `own`, with `passed` in the place of what has the same names.
// PATH and LD_LIBRARY_PATH keep what is theirs behind what is passed.
std::vector<std::string> merged_environment(const std::vector<std::string>& own,
                                            const std::vector<std::string>& passed);

// How the user's own streams look, which decides what workers get.
struct Console {
  bool terminal = false;  // stdout is one
  bool colors = false;    // and lines on it may have colors
};

// The options for all nodes: those that the user has typed, without what is about hosts, and with
// prefixes and colors for lines that all come out in one place.
std::vector<std::string> options_for_nodes(const cli::Scan& scan, const cli::JobSpec& job,
                                           const Console& console);
// --report and --events among them.
std::vector<std::string> file_options(const cli::JobSpec& job);

// All words for the ddprun of node `index`, which is `host`. A file of its own has the host's name
// behind it, but that of node 0, so that no two write the same one; only node 0 writes to stdout.
std::vector<std::string> words_of_node(const std::vector<std::string>& options,
                                       const std::vector<std::string>& files,
                                       const std::vector<std::string>& command, int index,
                                       const Host& host);

}  // namespace ddprun::hosts
