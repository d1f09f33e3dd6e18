// Reads which hosts a job has: the list of --hosts and the text of a --hostfile.
//
// Pure. The order is the user's: the first host is node 0.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/hosts/host.h"
#include "rendezvous/base/result.h"

namespace ddprun::hosts {

inline constexpr int kMostSlots = 16'384;  // more is taken for a slip
inline constexpr std::size_t kMostHosts = 4'096;

// "a:8,b:8", "gpu[01-04]:8", "joe@a", "[fd00::1]:8", "a:8:2222" and "a::2222" with the port of the
// sshd. The Error shows the part that is wrong and what to write.
Result<std::vector<Host>> read_list(std::string_view list);

// One host a line: "NAME slots=8" as Open MPI and DeepSpeed have it, with max_slots=, max-slots=,
// port= and user= beside it, or "NAME:8" as MPICH does; `#` begins a comment. The Error has the
// line's number in front.
Result<std::vector<Host>> read_hostfile(std::string_view text);

// Each host once. One that is named more than once has the sum of its slots; where no slots are
// given, as in the file of a batch system (PBS_NODEFILE), each time is one worker, for all hosts.
// An Error where the users of one host differ.
Result<std::vector<Host>> each_once(std::vector<Host> named);

// "joe@a:8", as read_list() reads it.
std::string text_of(const Host& host);

}  // namespace ddprun::hosts
