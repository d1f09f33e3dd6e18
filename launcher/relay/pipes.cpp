#include "launcher/relay/pipes.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "launcher/process/wait.h"

namespace ddprun::relay {

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{std::string("no pipe can be made: ") + std::strerror(errno)};
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<void> ChildProcess::start(const process::SpawnRequest& request,
                                 std::function<void(process::WaitStatus)> ended) {
  auto child = process::spawn(
      request,
      {.launcher = ::getpid(), .descriptors = {}, .ignored_signals = process::ignored_signals()});
  if (!child)
    return Error{"'" + request.path + "' cannot be started: " +
                 (child.error().step == process::SpawnStep::exec
                      ? ""
                      : std::string(process::call_of(child.error().step)) + ": ") +
                 std::strerror(child.error().error)};
  pid_ = child->pid;
  ended_ = std::move(ended);
  pidfd_.assign(child->pidfd.release());
  wait();
  return {};
}

void ChildProcess::wait() {
  pidfd_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [this](boost::system::error_code canceled) {
                      if (canceled) return;
                      const auto status = process::reap(pidfd_.native_handle());
                      if (!status) return wait();
                      pidfd_.close();
                      pid_ = 0;
                      ended_(*status);
                    });
}

void ChildProcess::signal(int signo) {
  if (pid_ != 0) ::kill(pid_, signo);
}

}  // namespace ddprun::relay
