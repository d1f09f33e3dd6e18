// The last output of one stream of a worker, kept for the report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddprun::output {

// At most this much is kept of one stream, and of all streams of a node together.
inline constexpr std::size_t kTailLines = 100;
inline constexpr std::size_t kTailBytes = std::size_t{64} << 10;
inline constexpr std::size_t kAllTailsBytes = std::size_t{16} << 20;

// Bytes that each of `streams` tails may keep: 64 KiB, or an equal share of 16 MiB where there are
// many.
std::size_t tail_limit(std::size_t streams);

// A ring of the last bytes. Adding copies bytes and allocates only while the ring grows towards its
// limit; lines are cut when somebody asks. A stream that was silent costs no memory.
class Tail {
 public:
  explicit Tail(std::size_t limit = kTailBytes) : limit_(limit) {}

  // Bytes as they were read, in pieces of any size.
  void add(std::string_view bytes);

  // The last lines, at most 100, oldest first, without newlines; text behind the last newline is a
  // line too. Bytes are unchanged. A line of which the ring lost the beginning is left out, unless
  // it is the only one: then its end is kept.
  std::vector<std::string> lines() const;

  bool empty() const { return bytes_.empty(); }

 private:
  void append(std::string_view bytes);

  std::size_t limit_;
  std::string bytes_;     // the ring; full when it has `limit_` bytes
  std::size_t next_ = 0;  // where the oldest byte is, once the ring is full
  bool lost_ = false;     // older bytes were overwritten
};

}  // namespace ddprun::output
