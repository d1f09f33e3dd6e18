#include "launcher/agent/engine_process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "rendezvous/base/command_of.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::agent {
namespace {

// Beginnings: Debian's are mpirun.openmpi and mpiexec.hydra.
constexpr std::array<std::string_view, 8> kStarters{"slurmstepd", "mpirun",  "mpiexec", "orterun",
                                                    "orted",      "prterun", "prte",    "hydra_"};

}  // namespace

bool starts_for_an_engine(std::string_view name) {
  return std::ranges::any_of(kStarters, [&](auto each) { return name.starts_with(each); });
}

EngineProcess::EngineProcess(boost::asio::io_context& io, pid_t pid,
                             std::function<void(const std::string& what)> ended)
    : pidfd_(io) {
  if (pid <= 1) return;
  // One that a shell has started outlives it, as after nohup.
  const auto name = read_file("/proc/" + std::to_string(pid) + "/comm");
  if (name && !starts_for_an_engine(*name)) return;
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
