#include "launcher/agent/engine_process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "rendezvous/base/command_of.h"

namespace ddprun::agent {

EngineProcess::EngineProcess(boost::asio::io_context& io, pid_t pid,
                             std::function<void(const std::string& what)> ended)
    : pidfd_(io) {
  if (pid <= 1) return;
  const std::string what = "'" + command_of(pid) + "' (pid " + std::to_string(pid) + ")";
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) {
    if (errno == ESRCH) boost::asio::post(io, [ended = std::move(ended), what] { ended(what); });
    return;
  }
  pidfd_.assign(fd);
  pidfd_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [ended = std::move(ended), what](boost::system::error_code canceled) {
                      if (!canceled) ended(what);
                    });
}

}  // namespace ddprun::agent
