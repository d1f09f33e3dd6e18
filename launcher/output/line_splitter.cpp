#include "launcher/output/line_splitter.h"

namespace ddprun::output {
namespace {

// A partial line's memory above this is given back once the line is complete.
constexpr std::size_t kKeptCapacity = 4096;

}  // namespace

void LineSplitter::feed(std::string_view bytes, const Lines& lines) {
  if (!partial_.empty() && !complete_partial(bytes, lines)) return;
  const std::size_t last = bytes.rfind('\n');
  if (last != std::string_view::npos) {
    lines(bytes.substr(0, last + 1));
    bytes.remove_prefix(last + 1);
  }
  partial_.append(bytes);
  if (partial_.size() >= longest_) finish(lines);
}

// False when `bytes` holds no newline and was kept whole.
bool LineSplitter::complete_partial(std::string_view& bytes, const Lines& lines) {
  const std::size_t newline = bytes.find('\n');
  const bool complete = newline != std::string_view::npos;
  partial_.append(bytes.substr(0, newline));
  if (complete || partial_.size() >= longest_) finish(lines);
  if (complete) bytes.remove_prefix(newline + 1);
  return complete;
}

void LineSplitter::finish(const Lines& lines) {
  if (partial_.empty()) return;
  partial_ += '\n';
  lines(partial_);
  partial_.clear();
  if (partial_.capacity() > kKeptCapacity) partial_.shrink_to_fit();
}

}  // namespace ddprun::output
