// Bytes in pieces of any size become whole lines.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ddprun::output {

// A line that is longer than this is passed on in pieces of about this size, each ended with a
// newline that the worker did not write. So the lines of ranks stay unmixed and memory stays
// bounded.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

// Only '\n' ends a line; all other bytes pass unchanged, '\r' and bytes that are not UTF-8
// included.
class LineSplitter {
 public:
  // Receives one or more whole lines, each ended by '\n'. The view is valid during the call.
  using Lines = std::function<void(std::string_view)>;

  explicit LineSplitter(std::size_t longest = kLongestLine) : longest_(longest) {}

  // Calls `lines` at most twice, without copying the lines that lie whole in `bytes`. What follows
  // the last newline is kept for the next call.
  void feed(std::string_view bytes, const Lines& lines);

  // At the end of the stream: passes on a last line without newline, completed.
  void finish(const Lines& lines);

  // What followed the last newline, and another text in its place.
  std::string_view partial() const { return partial_; }
  void set_partial(std::string text) { partial_ = std::move(text); }

 private:
  bool complete_partial(std::string_view& bytes, const Lines& lines);

  std::size_t longest_;
  std::string partial_;  // no newline in it
};

}  // namespace ddprun::output
