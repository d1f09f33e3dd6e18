// Replies to one client that have not been sent yet. Large values are shared with the store, not
// copied.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddprun::protocol {

// A stored value. Whoever holds one sees it unchanged for ever.
using Value = std::shared_ptr<const std::string>;

class ReplyBuffer {
 public:
  // The parts of a reply. Each appends to what is to be sent.
  void add_code(char code) { append({&code, 1}); }
  void add_number(std::int64_t number) {
    append({reinterpret_cast<const char*>(&number), sizeof number});
  }
  void add_word(std::uint32_t word) { append({reinterpret_cast<const char*>(&word), sizeof word}); }
  // A u64 length and the bytes.
  void add_text(std::string_view text);
  // The same; the bytes of a large value are shared. nullptr is sent as an empty value.
  void add_value(const Value& value);

  // Ends the reply that the calls before have written; nothing written since the last one is no
  // reply.
  void end_reply();

  // Bytes not sent yet, and how many of them belong to replies behind the first one.
  std::uint64_t unsent() const { return added_ - sent_; }
  std::uint64_t unsent_behind_first() const;
  bool empty() const { return added_ == sent_; }
  // Memory that is this buffer's own, about: what is not shared with the store.
  std::size_t own_bytes() const {
    return bytes_.size() + shared_.size() * sizeof(Shared) + ends_.size() * sizeof(ends_.front());
  }

  // Fills `parts` from the front with what is to be sent next and returns how many were used. They
  // are valid until the buffer is changed.
  std::size_t gather(std::span<iovec> parts) const;
  // Says that the first `bytes` of it were sent, at most unsent(). Shared values are let go as they
  // end.
  void consume(std::uint64_t bytes);

 private:
  // `value` is to be sent after the first `after` bytes of bytes_.
  struct Shared {
    std::size_t after;
    Value value;
  };

  void append(std::string_view bytes) {
    bytes_.append(bytes);
    added_ += bytes.size();
  }
  void release();
  void trim();

  std::string bytes_;  // all that is not shared, in order
  std::vector<Shared> shared_;
  std::uint64_t first_end_ = 0;      // of the reply being sent, counted like added_; 0: not ended
  std::vector<std::uint64_t> ends_;  // of the replies behind it, from the begun_-th on
  std::uint64_t added_ = 0;          // all bytes since the buffer was last empty
  std::uint64_t sent_ = 0;           // of these
  std::size_t bytes_sent_ = 0;       // of bytes_
  std::size_t shared_sent_ = 0;      // whole values of shared_
  std::uint64_t value_sent_ = 0;     // of the value after those
  std::size_t begun_ = 0;            // of ends_
};

}  // namespace ddprun::protocol
