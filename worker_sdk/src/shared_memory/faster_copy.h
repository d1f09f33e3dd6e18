// Which of two ways to copy is the faster one here and now.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace ddp::detail {

// Memory that a CPU has read and another one writes is quickly written where the two share a cache,
// and past the caches many times faster than through them where they do not: between sockets, or
// between processors of a virtual machine, which move. So each way is measured in its use.
class FasterCopy {
 public:
  enum class Way : std::size_t { kCached, kStreaming };

  // Of the next copy: the one that cost less lately, and now and then the other one.
  Way next() const;
  // What the copy cost that next() told the way of.
  void took(std::size_t bytes, std::chrono::nanoseconds time);

 private:
  // A trial of the other way: so many copies of so many. The first of each way only bring the
  // memory (a slot twice over) into its state, and are not counted.
  static constexpr unsigned kPeriod = 64, kTrial = 5, kNotCounted = 2;

  bool in_trial() const { return copies_ % kPeriod >= kPeriod - kTrial; }

  std::array<double, 2> cost_{};  // ns a byte; 0 has not been tried
  std::size_t usual_ = 0;         // the way outside the trials
  unsigned copies_ = 0;
};

}  // namespace ddp::detail
