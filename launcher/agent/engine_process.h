// The process by which an engine has started this ddprun: mpirun, slurmstepd. Once it has ended,
// nobody can stop this ddprun any more, and nobody reads what it writes.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace ddprun::agent {

// A program of this name (as in /proc/PID/comm, at most 15 bytes) is one by which Slurm or MPI
// starts others, so not a shell, nor a batch system's daemon. Pure.
bool starts_for_an_engine(std::string_view name);

// Used on the thread that runs `io`.
class EngineProcess {
 public:
  // Borrows `io`. `ended` is called once, from the event loop, with what the process was: "'mpirun
  // -np 2 ...' (pid 12)". Never for a process that does
  // not start for an engine, for process 1, and none beyond this pid namespace (0), which end
  // together with this one, nor where the kernel has no pidfd for it.
  EngineProcess(boost::asio::io_context& io, pid_t pid,
                std::function<void(const std::string& what)> ended);

 private:
  boost::asio::posix::stream_descriptor pidfd_;
};

}  // namespace ddprun::agent
