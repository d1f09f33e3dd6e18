// The last lines of one worker, kept for the report.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace ddprun::output {

// Memory that all tails of a node share; when it is used up the oldest lines of whoever adds are dropped first.
struct TailBudget {
  std::size_t limit = std::size_t{16} << 20;
  std::size_t used = 0;
};

// The last 100 lines and at most 64 KiB of what a worker wrote to one stream. Memory is taken as lines come.
class Tail {
 public:
  explicit Tail(TailBudget& budget) : budget_(budget) {}
  ~Tail();
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

  // `line` without its newline. A line longer than the limit keeps its end.
  void add(std::string_view line);
  // Oldest first.
  std::vector<std::string> lines() const { return {lines_.begin(), lines_.end()}; }
  bool empty() const { return lines_.empty(); }

 private:
  void drop_oldest();

  TailBudget& budget_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
};

}  // namespace ddprun::output
