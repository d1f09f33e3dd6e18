// The roster protocol's bytes: an opening, then frames of a 32-bit little-endian length and JSON.
// No I/O.
//
//   parser.feed(bytes);
//   while (auto frame = parser.next()) handle(decode_agent_message(*frame));
//   if (parser.failed()) close_connection(parser.error());
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rendezvous/protocol/unread_bytes.h"

namespace ddprun::protocol {

inline constexpr std::size_t kMaxFrameBytes = 1 << 20;  // of JSON
inline constexpr std::size_t kOpeningBytes = 8;

// "DDPR" and `number`; both sides send it first.
void encode_opening(std::string& out, std::uint32_t number);
// One whole frame. `json` has at most kMaxFrameBytes; more is a programming error and throws
// std::length_error.
void encode_frame(std::string& out, std::string_view json);

// Bytes of one connection in, the JSON texts of whole frames out. Memory grows with the bytes that
// have really arrived, never with a length that was announced.
class FrameParser {
 public:
  // Hands over what was read. `bytes` must stay valid until next() has returned nothing, which must
  // have happened before feed() is called again.
  void feed(std::string_view bytes);

  // The next whole frame's JSON, valid until the following call; nothing when more bytes are needed
  // (what is left is kept) or when the stream has failed.
  std::optional<std::string_view> next();

  // The other side's protocol number, as soon as its opening is there.
  std::optional<std::uint32_t> peer_number() const { return peer_number_; }

  // Once true it stays true: not the protocol, or a length that is 0 or over the limit. The
  // connection must be closed.
  bool failed() const { return !error_.empty(); }
  // One sentence that says what was found.
  const std::string& error() const { return error_; }

  // Bytes kept because their frame is not whole yet.
  std::size_t pending_bytes() const { return unread_.kept(); }

 private:
  bool read_opening();

  UnreadBytes unread_;
  std::string error_;
  std::optional<std::uint32_t> peer_number_;
};

}  // namespace ddprun::protocol
