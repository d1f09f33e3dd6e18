// Starts one child process: vfork, a few async-signal-safe calls, execve.
//
// Not Boost.Process and not posix_spawn: the parent-death signal, the exact errno of a failed exec
// and a start-up that does not grow with the launcher's memory are what a launcher is for.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <boost/system/result.hpp>
#include <string>
#include <vector>

#include "launcher/process/place.h"
#include "launcher/process/terminal.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::process {

// A running child. Reap it through `pidfd`, never by a wait for any child: the pid cannot be
// re-used before that.
struct Child {
  pid_t pid = 0;
  UniqueFd pidfd;  // close-on-exec; becomes readable when the child has ended
  PlacementErrors placement_errors = {};  // the child runs all the same
};

// Where starting a child failed: the program itself could not be executed, or the system had no
// room for another process or descriptor.
enum class SpawnStep { exec, vfork, pidfd, standard_streams, directory };

struct SpawnFailure {
  SpawnStep step = SpawnStep::exec;
  int error = 0;  // errno
};

// "vfork", "pidfd_open", …: the call behind a step, for messages.
const char* call_of(SpawnStep step);

// The descriptor behind the three standard ones, for a child that gets one more.
inline constexpr int kExtraDescriptor = 3;

// What a child gets. Descriptors are borrowed: the child receives copies as its 0, 1 and 2.
struct SpawnRequest {
  std::string path;                                      // executed as it is; see find_program
  std::vector<std::string> argv;                         // argv[0] included
  std::vector<std::string> env;                          // "NAME=value"
  const std::vector<std::string>* shared_env = nullptr;  // borrowed; comes before `env`
  int in = -1;
  int out = -1;
  int err = -1;
  int extra = -1;                        // becomes kExtraDescriptor; -1: there is none
  const Placement* placement = nullptr;  // borrowed; none: no system call is made for it
  int directory = -1;                    // where it starts; -1: where this process is
  // For the child that reads from the user's terminal: a process group of its own in this session,
  // which is given the terminal, instead of a session. Borrowed.
  const Terminal* terminal = nullptr;
};

// What all children of this launcher have in common.
struct SpawnSettings {
  pid_t launcher = 0;    // the child dies at once if this is not its parent any more
  rlimit descriptors{};  // the limit that ddprun inherited; a maximum of 0: leave it as it is
  std::vector<int> ignored_signals;  // those that this process ignores: see ignored_signals()
};

// The signals that this process ignores now, which a child would go on ignoring.
std::vector<int> ignored_signals();

// The child leads its own session (without SpawnRequest::terminal) and process group, has default
// signal dispositions and an empty signal mask, has no descriptors but 0, 1 and 2, is killed
// (SIGKILL) when the calling thread ends, and may be traced by the launcher. Call it from the main
// thread only: the parent-death signal belongs to the thread. Returns after the exec has happened
// or failed, so a missing program is known at once with its errno.
boost::system::result<Child, SpawnFailure> spawn(const SpawnRequest& request,
                                                 const SpawnSettings& settings);

// Found by Boost.System; value() of a failed spawn is a programming error.
[[noreturn]] void throw_exception_from_error(const SpawnFailure& failure,
                                             const boost::source_location&);

}  // namespace ddprun::process
