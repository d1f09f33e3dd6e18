#include "rendezvous/protocol/roster_frames.h"

#include <stdexcept>

#include "rendezvous/protocol/little_endian.h"

namespace ddprun::protocol {
namespace {

constexpr std::string_view kMagicBytes = "DDPR";
constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

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
  if (!failed()) unread_.feed(bytes);
}

std::optional<std::string_view> FrameParser::next() {
  if (failed()) return {};
  if (!peer_number_ && !read_opening()) return {};
  const std::string_view input = unread_.view();
  if (input.size() < kLengthBytes) return unread_.keep(), std::nullopt;
  const auto length = load<std::uint32_t>(input.data());
  if (length == 0 || length > kMaxFrameBytes) {
    error_ = "a roster message announces " + std::to_string(length) + " bytes, 1 to " +
             std::to_string(kMaxFrameBytes) + " are allowed";
    return {};
  }
  if (input.size() < kLengthBytes + length) return unread_.keep(), std::nullopt;
  unread_.use(kLengthBytes + length);
  return input.substr(kLengthBytes, length);
}

bool FrameParser::read_opening() {
  const std::string_view input = unread_.view();
  const std::string_view start = input.substr(0, kMagicBytes.size());
  if (start != kMagicBytes.substr(0, start.size())) {
    error_ = "the connection does not begin with DDPR: this is not ddprun's roster protocol";
    return false;
  }
  if (input.size() < kOpeningBytes) return unread_.keep(), false;
  peer_number_ = load<std::uint32_t>(input.data() + kMagicBytes.size());
  unread_.use(kOpeningBytes);
  return true;
}

}  // namespace ddprun::protocol
