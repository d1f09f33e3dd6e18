#include "launcher/agent/progress_pipes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace ddprun::agent {

ProgressPipes::ProgressPipes(boost::asio::io_context& io, int workers, OnReport on_report)
    : on_report_(std::move(on_report)) {
  ends_.reserve(static_cast<std::size_t>(workers));
  for (int i = 0; i < workers; ++i) ends_.emplace_back(io);
}

Result<UniqueFd> ProgressPipes::open(int local_rank) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return Error{std::string("pipe2: ") + std::strerror(errno)};
  ends_.at(static_cast<std::size_t>(local_rank)).assign(ends[0]);
  watch(local_rank);
  return UniqueFd(ends[1]);
}

void ProgressPipes::watch(int local_rank) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  ends_.at(static_cast<std::size_t>(local_rank))
      .async_wait(Descriptor::wait_read, [this, local_rank](boost::system::error_code canceled) {
        if (!canceled) read(local_rank);
      });
}

void ProgressPipes::read(int local_rank) {
  auto& end = ends_.at(static_cast<std::size_t>(local_rank));
  char bytes[4096];
  const ssize_t got = ::read(end.native_handle(), bytes, sizeof bytes);
  if (got == 0) {
    // Taken out of epoll first: a worker that is being started holds a copy for a moment.
    ::close(end.release());
    return on_report_(local_rank, Report::closed);
  }
  watch(local_rank);
  if (got > 0) on_report_(local_rank, Report::progress);
}

}  // namespace ddprun::agent
