// When the workers of a benchmark began to run and when they ended, in memory that they share with
// the benchmark: no message delays what is measured. The worker side is free of allocation and of
// the standard library's streams, so that starting a worker costs next to nothing.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ddprun::bench {

// The variable that tells a worker the path of the file with its page.
inline constexpr char kStampsVariable[] = "BENCH_STAMPS";

// Nanoseconds of CLOCK_MONOTONIC, the same clock in all processes.
std::int64_t now_ns();

// Milliseconds from one now_ns() to a later one.
inline double milliseconds(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to - from) / 1e6;
}

struct Stamp {
  pid_t pid = 0;
  int attempt = 0;  // the TORCHELASTIC_RESTART_COUNT of the worker
  std::atomic<std::int64_t> started{0};
  std::atomic<std::int64_t> ended{0};
};

struct StampPage {
  static constexpr int kStamps = 1024;
  std::atomic<int> used{0};
  Stamp stamps[kStamps];
};

// The page at `path`, mapped until the process ends. Null when it cannot be mapped.
StampPage* map_stamps(const char* path);

// A worker's own line in the page that kStampsVariable names, with the time of this call as its
// start. Null when there is no page or it is full.
Stamp* stamp_start();

// What a worker stamped, as plain values.
struct Life {
  pid_t pid;
  std::int64_t started;
  std::int64_t ended;  // 0: it stamped no end
};

// The benchmark's side: a page in a file of its own, exported through the environment to whatever
// is started while the object lives. One at a time.
class Stamps {
 public:
  // Throws std::system_error when the file cannot be made.
  Stamps();
  ~Stamps();
  Stamps(const Stamps&) = delete;
  Stamps& operator=(const Stamps&) = delete;

  // Those that have started in `attempt` so far.
  std::vector<Life> lives(int attempt = 0) const;
  // Those that have started after this now_ns(), whatever their attempt.
  std::vector<Life> lives_after(std::int64_t time) const;
  // The same once there are `count` of them. Both throw std::runtime_error after 20 s.
  std::vector<Life> wait_for(std::size_t count, int attempt = 0) const;
  std::vector<Life> wait_for_after(std::int64_t time, std::size_t count) const;

 private:
  template <class Wanted>
  std::vector<Life> select(const Wanted& wanted) const;

  std::string path_;
  StampPage* page_ = nullptr;
};

// The last start and the last end of some workers; 0 for none.
std::int64_t last_start(const std::vector<Life>& lives);
std::int64_t last_end(const std::vector<Life>& lives);
std::int64_t first_start(const std::vector<Life>& lives);

}  // namespace ddprun::bench
