#include "rendezvous/protocol/roster_frames.h"

#include <stdexcept>

#include "rendezvous/protocol/little_endian.h"

namespace ddprun::protocol {
namespace {

constexpr std::string_view kMagicBytes = "DDPR";
constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
// An idle connection keeps no more than this of the memory that an earlier frame needed.
constexpr std::size_t kKeptCapacity = 256;

}  // namespace

void encode_opening(std::string& out, std::uint32_t number) {
  out.append(kMagicBytes);
  store(out, number);
}

void encode_frame(std::string& out, std::string_view json) {
  if (json.size() > kMaxFrameBytes)
    throw std::length_error("a roster message of " + std::to_string(json.size()) + " bytes");
  store(out, static_cast<std::uint32_t>(json.size()));
  out.append(json);
}

void FrameParser::feed(std::string_view bytes) {
  if (failed()) return;
  if (pending_.empty()) {
    input_ = bytes;
  } else {
    pending_.append(bytes);
    input_ = pending_;
  }
}

std::optional<std::string_view> FrameParser::next() {
  if (failed()) return {};
  if (!peer_number_ && !read_opening()) return {};
  if (input_.size() < kLengthBytes) return keep_rest(), std::nullopt;
  const auto length = load<std::uint32_t>(input_.data());
  if (length == 0 || length > kMaxFrameBytes) {
    error_ = "a roster message announces " + std::to_string(length) + " bytes, 1 to " +
             std::to_string(kMaxFrameBytes) + " are allowed";
    return {};
  }
  if (input_.size() < kLengthBytes + length) return keep_rest(), std::nullopt;
  const std::string_view json = input_.substr(kLengthBytes, length);
  input_.remove_prefix(kLengthBytes + length);
  return json;
}

bool FrameParser::read_opening() {
  const std::string_view start = input_.substr(0, kMagicBytes.size());
  if (start != kMagicBytes.substr(0, start.size())) {
    error_ = "the connection does not begin with DDPR: this is not ddprun's roster protocol";
    return false;
  }
  if (input_.size() < kOpeningBytes) return keep_rest(), false;
  peer_number_ = load<std::uint32_t>(input_.data() + kMagicBytes.size());
  input_.remove_prefix(kOpeningBytes);
  return true;
}

void FrameParser::keep_rest() {
  if (pending_.empty()) {
    pending_.assign(input_);
  } else {
    pending_.erase(0, pending_.size() - input_.size());
    if (pending_.empty() && pending_.capacity() > kKeptCapacity) std::string().swap(pending_);
  }
  input_ = {};
}

}  // namespace ddprun::protocol
