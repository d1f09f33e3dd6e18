#include "worker_sdk/src/shared_memory/sum_queue.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
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
      patience_(patience(ranks_.all.size())) {
  for (const int pid : ranks_.pids) {
    processes_.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
}

SumQueue::~SumQueue() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  serve();  // the last threads may all be waiting in a `done`
  for (std::thread& thread : threads_) thread.join();
  sum_.leave();
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
  need_a_thread();
}

// A difference is left to the thread.
bool SumQueue::finishes_at_once() {
  const auto end = Clock::now() + patience_;
  do {
    if (sum_.advance() == SharedSum::State::kDone) return true;
    pause_briefly();
  } while (Clock::now() < end);
  return false;
}

// Under the mutex.
void SumQueue::need_a_thread() {
  if (works_ || orders_.empty()) return;
  if (ready_ == 0 && !stops_) threads_.emplace_back([this] { serve(); });
  changed_.notify_one();
}

void SumQueue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++ready_;
    changed_.wait(lock, [this] { return !works_ && (stops_ || !orders_.empty()); });
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
  if (stops_) changed_.notify_all();
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
    if (stops_) {
      return std::make_exception_ptr(
          std::runtime_error("the process group was destroyed before all ranks had come"));
    }
    sum_.sleep(kLook);
    if (std::exception_ptr failure = failure_of(order)) return failure;
  }
}

// In this order: who has ended may have come before that.
std::exception_ptr SumQueue::failure_of(const Order& order) const {
  const int ended = ended_rank(sum_.late());
  const std::vector<int> late = sum_.late();
  if (late.empty()) return nullptr;
  if (ended >= 0 && std::find(late.begin(), late.end(), ended) != late.end())
    return failures_.ended(global({ended})[0]);
  if (Clock::now() - order.asked < order.timeout) return nullptr;
  return failures_.late(global(late), order.timeout);
}

int SumQueue::ended_rank(const std::vector<int>& ranks) const {
  for (const int rank : ranks) {
    pollfd process{processes_[static_cast<std::size_t>(rank)].get(), POLLIN, 0};
    // Whoever could not be found when this began had ended by then.
    if (process.fd < 0 || sum_.has_left(rank) || ::poll(&process, 1, 0) > 0) return rank;
  }
  return -1;
}

std::vector<int> SumQueue::global(const std::vector<int>& ranks) const {
  std::vector<int> all;
  for (const int rank : ranks) all.push_back(ranks_.all[static_cast<std::size_t>(rank)]);
  return all;
}

}  // namespace ddp::detail
