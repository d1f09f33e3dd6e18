// Reports of progress from the workers (--progress-timeout).
//
// The protocol: a worker finds the number of an open descriptor in DDPRUN_PROGRESS_FD. Whenever it
// gets on (after a step, say) it writes at least one byte there; which bytes does not matter. The
// descriptor is the non-blocking end of a pipe: a write that would block (EAGAIN) can be ignored. A
// worker that has written once and then is silent for the given time counts as failed. One that
// never writes has no limit, and one that closes the descriptor, together with all its children,
// has none any longer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <vector>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::agent {

// The reading ends of one round. Used on the thread that runs `io`; `on_report` is called there.
class ProgressPipes {
 public:
  enum class Report { progress, closed };
  using OnReport = std::function<void(int local_rank, Report)>;

  ProgressPipes(boost::asio::io_context& io, int workers, OnReport on_report);

  // Makes the pipe of a worker and watches it. Returns the end that the worker gets; close it once
  // the worker has been started.
  Result<UniqueFd> open(int local_rank);

 private:
  void watch(int local_rank);
  void read(int local_rank);

  std::vector<boost::asio::posix::stream_descriptor> ends_;  // by local rank
  OnReport on_report_;
};

}  // namespace ddprun::agent
