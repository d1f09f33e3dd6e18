#include "rendezvous/protocol/reply_buffer.h"

#include <algorithm>

namespace ddprun::protocol {
namespace {

// Below this a copy costs less than a reference and its part of a gathered write.
constexpr std::size_t kShareFrom = 1024;
// A drained buffer keeps at most this much memory, because most connections are idle most of the
// time.
constexpr std::size_t kKeptCapacity = 256;
// Sent bytes are cut off the front in steps of at least this, so that the cost stays linear.
constexpr std::size_t kTrimFrom = 64 << 10;

}  // namespace

void ReplyBuffer::add_text(std::string_view text) {
  add_number(static_cast<std::int64_t>(text.size()));
  append(text);
}

void ReplyBuffer::add_value(const Value& value) {
  if (value == nullptr || value->size() < kShareFrom) {
    add_text(value == nullptr ? std::string_view() : std::string_view(*value));
    return;
  }
  add_number(static_cast<std::int64_t>(value->size()));
  shared_.push_back({bytes_.size(), value});
  added_ += value->size();
}

void ReplyBuffer::end_reply() {
  if (first_end_ == 0)
    first_end_ = added_;
  else if (added_ != (begun_ < ends_.size() ? ends_.back() : first_end_))
    ends_.push_back(added_);
}

std::uint64_t ReplyBuffer::unsent_behind_first() const {
  return first_end_ == 0 ? 0 : added_ - first_end_;
}

std::size_t ReplyBuffer::gather(std::span<iovec> parts) const {
  std::size_t used = 0;
  std::size_t at = bytes_sent_;
  const auto add = [&](const char* data, std::size_t size) {
    parts[used++] = {const_cast<char*>(data), size};
  };
  for (std::size_t i = shared_sent_; i < shared_.size() && used < parts.size(); ++i) {
    const auto& [after, value] = shared_[i];
    if (after > at) add(bytes_.data() + at, after - at);
    at = after;
    if (used == parts.size()) return used;
    const std::uint64_t skip = i == shared_sent_ ? value_sent_ : 0;
    add(value->data() + skip, value->size() - skip);
  }
  if (used < parts.size() && at < bytes_.size()) add(bytes_.data() + at, bytes_.size() - at);
  return used;
}

void ReplyBuffer::consume(std::uint64_t bytes) {
  sent_ += bytes;
  if (empty()) return release();
  while (bytes > 0) {
    const bool has_value = shared_sent_ < shared_.size();
    const std::size_t plain_end = has_value ? shared_[shared_sent_].after : bytes_.size();
    const auto plain = std::min<std::uint64_t>(bytes, plain_end - bytes_sent_);
    bytes_sent_ += plain;
    bytes -= plain;
    if (!has_value || bytes_sent_ < plain_end) break;
    Value& value = shared_[shared_sent_].value;
    const auto taken = std::min<std::uint64_t>(bytes, value->size() - value_sent_);
    value_sent_ += taken;
    bytes -= taken;
    if (value_sent_ < value->size()) break;
    value.reset();
    ++shared_sent_;
    value_sent_ = 0;
  }
  while (first_end_ != 0 && first_end_ <= sent_)
    first_end_ = begun_ < ends_.size() ? ends_[begun_++] : 0;
  if (bytes_sent_ >= kTrimFrom || shared_sent_ >= kTrimFrom / sizeof(Shared)) trim();
}

void ReplyBuffer::release() {
  bytes_.clear();
  if (bytes_.capacity() > kKeptCapacity) std::string().swap(bytes_);
  if (shared_.capacity() > 0) std::vector<Shared>().swap(shared_);
  ends_.clear();
  if (ends_.capacity() > kKeptCapacity / sizeof(ends_.front())) {
    std::vector<std::uint64_t>().swap(ends_);
  }
  added_ = sent_ = value_sent_ = first_end_ = 0;
  bytes_sent_ = shared_sent_ = begun_ = 0;
}

// A client that never catches up must not make the buffer remember all it has ever been sent.
void ReplyBuffer::trim() {
  if (bytes_sent_ < bytes_.size() / 2 && shared_sent_ < shared_.size() / 2) return;
  bytes_.erase(0, bytes_sent_);
  shared_.erase(shared_.begin(), shared_.begin() + static_cast<std::ptrdiff_t>(shared_sent_));
  for (Shared& shared : shared_) shared.after -= bytes_sent_;
  ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(begun_));
  bytes_sent_ = shared_sent_ = begun_ = 0;
}

}  // namespace ddprun::protocol
