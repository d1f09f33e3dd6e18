#include "worker_sdk/src/spawned_processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "worker_sdk/src/spawned_process.h"
#include "worker_sdk/src/text.h"

namespace ddp::detail {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A file in memory: an order may be longer than what a pipe or the environment holds.
ddprun::UniqueFd file_with(const std::string& bytes) {
  ddprun::UniqueFd file(::memfd_create("ddp_spawn", MFD_CLOEXEC));
  if (!file) throw std::system_error(errno, std::generic_category(), "memfd_create");
  for (std::size_t done = 0; done < bytes.size();) {
    const auto size = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (size < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "write to a file in memory");
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
  }
  return file;
}

class Job {
 public:
  explicit Job(const SpawnRequest& request) : grace_(request.grace) {
    const auto order = file_with(request.order);
    processes_.reserve(static_cast<std::size_t>(request.nprocs));
    for (int rank = 0; rank < request.nprocs; ++rank) {
      processes_.emplace_back(rank, order.get(), request.environment(rank));
    }
  }

  std::optional<SpawnFailure> run() {
    while (anybody_runs()) {
      wait();
      for (SpawnedProcess& process : processes_) process.update();
      look();
    }
    return failure_;
  }

 private:
  bool anybody_runs() const { return std::ranges::any_of(processes_, &SpawnedProcess::running); }

  // Until something happens or the grace time is over.
  void wait() {
    std::vector<pollfd> files;
    for (const SpawnedProcess& process : processes_) {
      if (!process.running()) continue;
      files.push_back({process.pidfd(), POLLIN, 0});
      if (process.answer() >= 0) files.push_back({process.answer(), POLLIN, 0});
    }
    int limit = -1;
    if (kill_at_) {
      const auto left = std::chrono::ceil<milliseconds>(*kill_at_ - Clock::now()).count();
      limit = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
    }
    ::poll(files.data(), files.size(), limit);
  }

  void look() {
    note_failure();
    if (!failure_) return;
    if (!kill_at_ && !killed_) {
      kill_at_ = Clock::now() + grace_;
      for (SpawnedProcess& process : processes_) {
        if (!process.failure()) process.send(SIGTERM);  // the others are about to end
      }
    } else if (kill_at_ && Clock::now() >= *kill_at_) {
      kill_the_rest();
    }
  }

  // The failure that came first counts, but a process that just ended before one that threw: the
  // exceptions of others come of its end, and may arrive before the kernel has finished with it.
  void note_failure() {
    const bool final = failure_.has_value();
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const SpawnedProcess& process = processes_[i];
      const auto how = process.failure();
      if (!how || (final && !process.ended_unasked())) continue;
      const std::pair order(!process.ended_unasked(), process.thrown_at());
      if (failure_ && order >= order_) continue;
      failure_ = SpawnFailure{static_cast<int>(i), *how};
      order_ = order;
    }
  }

  void kill_the_rest() {
    killed_ = true;
    kill_at_.reset();
    for (SpawnedProcess& process : processes_) process.send(SIGKILL);
  }

  std::vector<SpawnedProcess> processes_;
  milliseconds grace_;
  std::optional<Clock::time_point> kill_at_;
  bool killed_ = false;
  std::optional<SpawnFailure> failure_;
  std::pair<bool, std::int64_t> order_;  // of failure_: less counts more
};

}  // namespace

std::optional<SpawnFailure> run_processes(const SpawnRequest& request) {
  return Job(request).run();
}

}  // namespace ddp::detail
