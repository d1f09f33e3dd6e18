#include "worker_sdk/src/shared_memory/sum_queue.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

namespace ddp::detail {
namespace {

using std::chrono::milliseconds;

// How soon the end of another process is noticed.
constexpr milliseconds kLook{20};
// Less than the two wake-ups cost that a thread needs, and longer than ranks of one step differ
// where nothing else runs.
constexpr std::chrono::microseconds kPatience{100};

int own_cpus() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Whoever waits busily where there are not enough CPUs keeps the others from coming.
std::chrono::microseconds patience(std::size_t ranks) {
  return static_cast<std::size_t>(own_cpus()) >= ranks ? kPatience : std::chrono::microseconds(0);
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

SumQueue::SumQueue(SharedMapping memory, SharingRanks ranks, SumFailures failures)
    : memory_(std::move(memory)),
      ranks_(std::move(ranks)),
      failures_(std::move(failures)),
      sum_(memory_.data(), ranks_.rank, static_cast<int>(ranks_.all.size())),
      own_pid_(::getpid()),
      patience_(patience(ranks_.all.size())) {
  for (const int pid : ranks_.pids) {
    processes_.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
}

void SumQueue::close() {
  // After a fork the memory is still that of the parent, and its threads are not there.
  if (::getpid() != own_pid_) return;
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
  // This thread as well: the others may all be waiting in a `done`.
  for (;;) {
    changed_.wait(lock, [this] { return !works_; });
    if (orders_.empty()) break;
    work_on_first(lock);
  }
  if (!broken_) sum_.say(SharedSum::Presence::kLeft);
}

void SumQueue::sum(const Addend& addend, milliseconds timeout, Done done) {
  std::unique_lock lock(mutex_);
  Order order{addend, timeout, Clock::now(), std::move(done)};
  if (orders_.empty() && !broken_) {
    sum_.begin(addend);
    order.begun = true;
    if (finishes_at_once()) {
      lock.unlock();
      order.done(nullptr);
      return;
    }
  }
  orders_.push_back(std::move(order));
  if (!need_a_thread()) work_on_first(lock);
}

// A difference is left to those who wait.
bool SumQueue::finishes_at_once() {
  const auto end = Clock::now() + patience_;
  do {
    if (sum_.advance() == SharedSum::State::kDone) return true;
    pause_briefly();
  } while (Clock::now() < end);
  return false;
}

// Under the mutex. False: there is work, and the system has no thread for it.
bool SumQueue::need_a_thread() {
  if (works_ || orders_.empty()) return true;
  changed_.notify_one();
  if (ready_ > 0) return true;
  try {
    std::thread([self = shared_from_this()] { self->serve(); }).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void SumQueue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++ready_;
    changed_.wait(lock, [this] { return !works_ && (closed_ || !orders_.empty()); });
    --ready_;
    if (orders_.empty()) return;
    work_on_first(lock);
  }
}

void SumQueue::work_on_first(std::unique_lock<std::mutex>& lock) {
  Order& order = orders_.front();  // stays where it is while others are added behind
  if (!broken_) {
    works_ = true;
    lock.unlock();
    std::exception_ptr failure = finish(order);
    lock.lock();
    works_ = false;
    broken_ = std::move(failure);
  }
  const Done done = std::move(order.done);
  const std::exception_ptr failure = broken_;
  orders_.pop_front();
  need_a_thread();
  if (closed_) changed_.notify_all();
  lock.unlock();
  done(failure);
  lock.lock();
}

std::exception_ptr SumQueue::finish(Order& order) {
  if (!std::exchange(order.begun, true)) sum_.begin(order.addend);
  for (;;) {
    const SharedSum::State state = sum_.advance();
    if (state == SharedSum::State::kDone) return nullptr;
    if (state == SharedSum::State::kDiffers) return failures_.differs(sum_.difference(ranks_.all));
    sum_.sleep(kLook);
    if (std::exception_ptr failure = failure_of(order)) {
      // Whoever comes later need not wait as long again.
      sum_.say(SharedSum::Presence::kGaveUp);
      return failure;
    }
  }
}

// Who has ended or left may have come before that, so that it is no longer late.
std::exception_ptr SumQueue::failure_of(const Order& order) const {
  for (const int rank : sum_.late()) {
    std::exception_ptr failure = failure_of_one(rank);
    if (failure) return failure;
  }
  const std::vector<int> late = sum_.late();
  if (late.empty() || Clock::now() - order.asked < order.timeout) return nullptr;
  return failures_.late(global(late), order.timeout);
}

std::exception_ptr SumQueue::failure_of_one(int rank) const {
  const SharedSum::Presence presence = sum_.presence_of(rank);
  const bool ended = presence == SharedSum::Presence::kLeft || has_ended(rank);
  const bool gone = ended || presence == SharedSum::Presence::kGaveUp;
  if (!gone || !sum_.is_late(rank)) return nullptr;
  return (ended ? failures_.ended : failures_.gave_up)(ranks_.all[static_cast<std::size_t>(rank)]);
}

bool SumQueue::has_ended(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  pollfd process{processes_[index].get(), POLLIN, 0};
  if (process.fd >= 0) return ::poll(&process, 1, 0) > 0;
  return ::kill(ranks_.pids[index], 0) != 0 && errno == ESRCH;
}

std::vector<int> SumQueue::global(const std::vector<int>& ranks) const {
  std::vector<int> all;
  for (const int rank : ranks) all.push_back(ranks_.all[static_cast<std::size_t>(rank)]);
  return all;
}

}  // namespace ddp::detail
