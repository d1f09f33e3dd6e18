#include "launcher/agent/engine_process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "launcher/process/children.h"
#include "rendezvous/base/command_of.h"
#include "rendezvous/base/first_line.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::agent {
namespace {

// Debian's have an end of their own, mpirun.openmpi and mpiexec.hydra; a user's mpirun_env.sh is
// none of them.
constexpr std::array<std::string_view, 9> kStarters{
    "slurmstepd", "mpirun", "mpiexec", "orterun", "orted", "prterun", "prte", "prted", "hydra_"};

}  // namespace

bool starts_for_an_engine(std::string_view comm) {
  const std::string name = first_line(comm);
  return std::ranges::any_of(kStarters, [&](auto each) {
    if (!name.starts_with(each)) return false;
    return name.size() == each.size() || each.ends_with('_') || name[each.size()] == '.';
  });
}

// One that a login shell has started outlives it, as after nohup: nobody is above that shell who
// starts for an engine.
pid_t engine_of(pid_t pid) {
  for (pid_t each = pid; each > 1; each = process::parent_of(each)) {
    const auto name = read_file("/proc/" + std::to_string(each) + "/comm");
    if (!name) return each == pid ? pid : 0;
    if (starts_for_an_engine(*name)) return each;
  }
  return 0;
}

EngineProcess::EngineProcess(boost::asio::io_context& io, pid_t started_by,
                             std::function<void(const std::string& what)> ended)
    : pidfd_(io) {
  const pid_t pid = engine_of(started_by);
  if (pid == 0) return;
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
