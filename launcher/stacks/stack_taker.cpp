#include "launcher/stacks/stack_taker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "launcher/process/children.h"
#include "launcher/process/wait.h"
#include "launcher/stacks/proc_stacks.h"
#include "rendezvous/base/read_file.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::stacks {
namespace {

// Asked before a debugger stops it as well.
constexpr const char* kStopped = "stopped by a signal; SIGCONT continues it\n";
constexpr int kPatienceAfterKillMs = 200;

void append(const std::string& file, const std::string& text) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  // Where there is no room for stacks the report goes without them.
  if (fd && ::write(fd.get(), text.data(), text.size()) < 0) return;
}

}  // namespace

struct StackTaker::Running {
  Running(boost::asio::io_context& io, process::Child child)
      : pid(child.pid), pidfd(io, child.pidfd.release()) {}
  // A debugger that is killed lets go of its process. One that hangs in the kernel, on a file
  // system that does not answer, is left to whoever clears up at the end.
  ~Running() {
    if (ended) return;
    ::kill(-pid, SIGKILL);
    pollfd end{pidfd.native_handle(), POLLIN, 0};
    if (::poll(&end, 1, kPatienceAfterKillMs) > 0) process::reap(pidfd.native_handle());
  }
  pid_t pid;
  boost::asio::posix::stream_descriptor pidfd;
  bool ended = false;
};

StackTaker::StackTaker(boost::asio::io_context& io, process::SpawnSettings settings,
                       std::string search_path)
    : io_(io), settings_(std::move(settings)), search_path_(std::move(search_path)), timer_(io) {}

StackTaker::~StackTaker() {
  cancel();
}

void StackTaker::take(std::vector<Target> targets, std::chrono::milliseconds limit,
                      std::function<void()> done) {
  targets_ = std::move(targets);
  if (targets_.size() > kMostProcesses) targets_.resize(kMostProcesses);
  done_ = std::move(done);
  tool_ = find_tool(search_path_);
  for (const Target& target : targets_) {
    append(target.file, target.title + "\n" + (process::is_stopped(target.pid) ? kStopped : ""));
    if (tool_.kind != Tool::Kind::none) start(target);
  }
  if (running_.empty()) return conclude();
  timer_.expires_after(limit);
  timer_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled) conclude();
  });
}

void StackTaker::start(const Target& target) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd out(::open(target.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!null || !out) return;
  auto child = process::spawn({.path = tool_.path,
                               .argv = command(tool_, target.pid),
                               .env = {"PATH=" + search_path_, "LC_ALL=C", "HOME=/nonexistent"},
                               .in = null.get(),
                               .out = out.get(),
                               .err = out.get()},
                              settings_);
  if (!child) return;
  running_.push_back(std::make_unique<Running>(io_, std::move(*child)));
  watch(*running_.back());
}

void StackTaker::watch(Running& running) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  running.pidfd.async_wait(
      Descriptor::wait_read, [this, &running](boost::system::error_code canceled) {
        if (canceled) return;
        process::reap(running.pidfd.native_handle());
        running.ended = true;
        const bool all = std::all_of(running_.begin(), running_.end(),
                                     [](const auto& one) { return one->ended; });
        if (all) conclude();
      });
}

void StackTaker::conclude() {
  if (!done_) return;
  timer_.cancel();
  running_.clear();
  for (const Target& target : targets_)
    if (!has_frames(read_file(target.file).value_or("")))
      append(
          target.file,
          "no debugger could show the frames (eu-stack, of elfutils, is the fastest); the kernel "
          "says:\n" +
              proc_stacks(target.pid));
  boost::asio::post(io_, std::exchange(done_, nullptr));
}

void StackTaker::cancel() {
  done_ = nullptr;
  timer_.cancel();
  running_.clear();
}

}  // namespace ddprun::stacks
