#include "launcher/agent/workers.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "launcher/process/children.h"
#include "rendezvous/base/command_of.h"

namespace ddprun::agent {

Workers::Workers(boost::asio::io_context& io, int count, OnEnded on_ended)
    : on_ended_(std::move(on_ended)) {
  workers_.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) workers_.emplace_back(io);
}

boost::system::result<pid_t, process::SpawnFailure> Workers::start(
    int local_rank, const process::SpawnRequest& request, const process::SpawnSettings& settings,
    process::PlacementErrors* refused) {
  auto child = process::spawn(request, settings);
  if (!child) return child.error();
  if (refused != nullptr) *refused = child->placement_errors;
  at(local_rank).pid = child->pid;
  at(local_rank).pidfd.assign(child->pidfd.release());
  watch(local_rank);
  return child->pid;
}

void Workers::watch(int local_rank) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  at(local_rank)
      .pidfd.async_wait(Descriptor::wait_read,
                        [this, local_rank](boost::system::error_code failed) {
                          if (failed) return;
                          const auto status = process::reap(at(local_rank).pidfd.native_handle());
                          if (!status) return watch(local_rank);
                          at(local_rank).pidfd.close();
                          on_ended_(local_rank, *status);
                        });
}

bool Workers::signal(int local_rank, int signo) {
  Worker& worker = at(local_rank);
  const process::ChildState state = process::state_of(worker.pidfd.native_handle());
  if (state == process::ChildState::ended) return false;
  ::kill(-worker.pid, signo);
  if (state == process::ChildState::stopped) ::kill(-worker.pid, SIGCONT);
  return true;
}

void Workers::signal_group(int local_rank, int signo) {
  ::kill(-at(local_rank).pid, signo);
}

void reap_orphans(const std::function<bool(pid_t)>& is_worker) {
  for (pid_t pid; (pid = process::ended_child()) > 0 && !is_worker(pid);) process::reap_orphan(pid);
}

std::vector<supervise::Leftover> signal_descendants(int signo) {
  std::vector<supervise::Leftover> found;
  for (pid_t pid : process::descendants_of(::getpid())) {
    if (!process::is_alive(pid)) continue;
    found.push_back({pid, command_of(pid)});
    ::kill(pid, signo);
    ::kill(pid, SIGCONT);
  }
  return found;
}

}  // namespace ddprun::agent
