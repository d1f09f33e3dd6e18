#include "launcher/output/tail.h"

#include <algorithm>
#include <cstring>

namespace ddprun::output {

std::size_t tail_limit(std::size_t streams) {
  return std::min(kTailBytes, kAllTailsBytes / std::max<std::size_t>(streams, 1));
}

void Tail::add(std::string_view bytes) {
  if (bytes.size() > limit_) {
    bytes.remove_prefix(bytes.size() - limit_);
    lost_ = true;
  }
  const std::size_t room = std::min(limit_ - bytes_.size(), bytes.size());
  append(bytes.substr(0, room));
  bytes.remove_prefix(room);
  while (!bytes.empty()) {
    const std::size_t n = std::min(limit_ - next_, bytes.size());
    std::memcpy(bytes_.data() + next_, bytes.data(), n);
    next_ = (next_ + n) % limit_;
    bytes.remove_prefix(n);
    lost_ = true;
  }
}

// std::string would double its capacity past the limit.
void Tail::append(std::string_view bytes) {
  const std::size_t size = bytes_.size() + bytes.size();
  if (size > bytes_.capacity()) {
    bytes_.reserve(std::min(limit_, std::max(size, 2 * bytes_.capacity())));
  }
  bytes_.append(bytes);
}

std::vector<std::string> Tail::lines() const {
  std::string text = bytes_.substr(next_) + bytes_.substr(0, next_);
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  else if (text.empty())
    return {};
  if (lost_) {
    const std::size_t whole = text.find('\n');
    if (whole != std::string::npos) text.erase(0, whole + 1);
  }
  std::vector<std::string> lines;
  std::size_t end = text.size();
  while (lines.size() < kTailLines) {
    const std::size_t newline = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    lines.push_back(text.substr(begin, end - begin));
    if (newline == std::string::npos) break;
    end = newline;
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace ddprun::output
