// The bytes of a connection that a parser has not used yet: in the caller's buffer while they are
// being parsed, and kept from one read to the next only if something is not whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ddprun::protocol {

class UnreadBytes {
 public:
  // Takes what was read; it must stay valid until keep().
  void feed(std::string_view bytes) {
    if (kept_.empty()) {
      view_ = bytes;
    } else {
      kept_.append(bytes);
      view_ = kept_;
    }
  }
  // All of them, valid until feed() or keep().
  std::string_view view() const { return view_; }
  // The first ones are done with.
  void use(std::size_t bytes) { view_.remove_prefix(bytes); }
  // Copies what is left out of the caller's buffer.
  void keep() {
    if (kept_.empty()) {
      if (!view_.empty()) kept_.assign(view_);
    } else {
      kept_.erase(0, kept_.size() - view_.size());
      if (kept_.empty() && kept_.capacity() > kKeptCapacity) std::string().swap(kept_);
    }
    view_ = {};
  }
  // Bytes that are kept.
  std::size_t kept() const { return kept_.size(); }

 private:
  // An idle connection keeps no more than this of the memory that an earlier message needed.
  static constexpr std::size_t kKeptCapacity = 256;

  std::string kept_;
  std::string_view view_;  // lies in kept_ or in the fed bytes
};

}  // namespace ddprun::protocol
