// Bytes of one connection in, whole requests out. No I/O.
//
// A request comes out only when all of its bytes are there, so a MULTI_SET is applied once or not
// at all. Memory grows with the bytes that have really arrived, never with a length that was
// announced. A large request that arrives in many pieces is scanned once, not once for each piece.
//
//   parser.feed(bytes);
//   while (parser.next(request)) apply(request);
//   if (parser.failed()) close_connection(parser.error());
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rendezvous/protocol/limits.h"
#include "rendezvous/protocol/request.h"
#include "rendezvous/protocol/unread_bytes.h"

namespace ddprun::protocol {

class RequestParser {
 public:
  // `limits` is shared by all connections of a server and must outlive the parser.
  explicit RequestParser(const Limits& limits) : limits_(&limits) {}

  // Hands over what was read. `bytes` must stay valid until next() has returned false, which must
  // have happened before feed() is called again.
  void feed(std::string_view bytes);

  // Puts the next whole request into `request`, whose texts are valid until the following call.
  // False when more bytes are needed (what is left of the input is kept) or when the stream has
  // failed. Parsers may share one `request`: it is no part of a connection's state.
  bool next(Request& request);

  // Once true it stays true: the stream is not the protocol, or is over a limit. The connection
  // must be closed; there is no way to find the next request.
  bool failed() const { return !error_.empty(); }
  // One sentence that names the operation and the limit.
  const std::string& error() const { return error_; }

  // Bytes kept because their request is not whole yet.
  std::size_t pending_bytes() const { return unread_.kept(); }

 private:
  bool scan(std::string_view bytes);
  bool start(std::string_view bytes);
  bool scan_operand(Operand operand, std::string_view bytes);
  bool scan_text(Operand operand, std::string_view bytes);
  void decode(std::string_view bytes, Request& request) const;
  bool fail(std::string text);

  const Limits* limits_;
  UnreadBytes unread_;
  std::string error_;
  bool validated_ = false;

  // Where the scan of the first request in unread_ stands; it is resumed here when more bytes come.
  const Grammar* grammar_ = nullptr;  // nullptr: not begun
  std::uint64_t at_ = 0;              // offset of the next operand
  std::uint64_t items_left_ = 0;
  std::size_t operand_ = 0;
  bool count_known_ = false;
};

}  // namespace ddprun::protocol
