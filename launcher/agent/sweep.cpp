#include "launcher/agent/sweep.h"

#include <signal.h>

#include <algorithm>
#include <string>
#include <utility>

#include "launcher/agent/workers.h"
#include "launcher/process/children.h"
#include "launcher/process/wait.h"
#include "rendezvous/base/command_of.h"

namespace ddprun::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDyingTime{20};
constexpr std::chrono::seconds kGrace{2};
constexpr int kKillPatienceMs = 5000;

}  // namespace

Sweep::Sweep(boost::asio::io_context& io, output::Output& output) : output_(output), timer_(io) {}

void Sweep::start(std::vector<pid_t> stuck, bool hurried, OnSwept swept) {
  stuck_ = std::move(stuck);
  swept_ = std::move(swept);
  on_child_ended();
  if (!under_way()) return;
  if (hurried) return kill();
  later(kDyingTime, &Sweep::ask);
}

void Sweep::on_child_ended() {
  if (under_way() && process::ended_child() < 0) finish();
}

void Sweep::hurry() {
  if (under_way()) kill();
}

void Sweep::ask() {
  leftovers_ = signal_all(SIGTERM);
  if (leftovers_.empty())
    output_.note("ddprun: workers have left processes that /proc does not show");
  later(kGrace, &Sweep::kill);
}

void Sweep::kill() {
  if (leftovers_.empty()) leftovers_ = signal_all(SIGKILL);
  for (pid_t pid : process::kill_all_children(stuck_, kKillPatienceMs))
    output_.note("ddprun: process " + std::to_string(pid) + " (" + command_of(pid) +
                 ") could not be killed; it is still there");
  finish();
}

void Sweep::later(milliseconds delay, void (Sweep::*next)()) {
  timer_.expires_after(delay);
  timer_.async_wait([this, next](boost::system::error_code canceled) {
    if (!canceled && under_way()) (this->*next)();
  });
}

void Sweep::finish() {
  timer_.cancel();
  std::exchange(swept_, nullptr)(std::move(leftovers_));
}

std::vector<supervise::Leftover> Sweep::signal_all(int signo) const {
  auto found = signal_descendants(signo);
  std::erase_if(found, [this](const supervise::Leftover& left) {
    return std::find(stuck_.begin(), stuck_.end(), left.pid) != stuck_.end();
  });
  return found;
}

}  // namespace ddprun::agent
