// The process by which an engine has started this ddprun: mpirun, slurmstepd; itself, or by a shell
// of the user's. Once it has ended, nobody can stop this ddprun any more, and nobody reads what it
// writes.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace ddprun::agent {

// A program of this name (/proc/PID/comm: at most 15 bytes, a line) is one by which Slurm or MPI
// starts others, so not a shell, nor a batch system's daemon. Pure.
bool starts_for_an_engine(std::string_view comm);

// Of `pid` and its ancestors the nearest that starts for an engine; `pid` itself where it is gone;
// 0 where there is none. Process 1, which ends together with this one, is none.
pid_t engine_of(pid_t pid);

// Used on the thread that runs `io`.
class EngineProcess {
 public:
  // Borrows `io`. Watches the engine's process above `started_by`, the parent of this ddprun: 0
  // where that is in another pid namespace. `ended` is called once, from the event loop, with what
  // the process was: "'mpirun -np 2 ...' (pid 12)"; never where there is none, nor where the kernel
  // has no pidfd for it.
  EngineProcess(boost::asio::io_context& io, pid_t started_by,
                std::function<void(const std::string& what)> ended);

 private:
  boost::asio::posix::stream_descriptor pidfd_;
};

}  // namespace ddprun::agent
