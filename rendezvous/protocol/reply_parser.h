// The client's side of a reply: bytes in, one reply out. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/protocol/operations.h"

namespace ddprun::protocol {

// What an operation's reply carries is told by the operation:
//   number  ADD, GETNUMKEYS, DELETE_KEY, QUEUE_LEN; QUEUE_POP: the length before the pop
//   code    CHECK, WAIT, BARRIER, CANCEL_WAIT
//   word    PING
//   values  GET, COMPARE_SET: one; QUEUE_POP: one if number > 0; MULTI_GET: one for each key;
//   LIST_KEYS
struct Reply {
  std::int64_t number = 0;
  char code = 0;
  std::uint32_t word = 0;
  std::vector<std::string> values;
};

// True for the operations that are not answered: VALIDATE, SET, APPEND, MULTI_SET, QUEUE_PUSH.
bool has_no_reply(Operation operation);

// Parses the reply to one request. Not for the operations without one.
class ReplyParser {
 public:
  // `keys`: how many keys a MULTI_GET asked for; not used by other operations.
  explicit ReplyParser(Operation operation, std::uint64_t keys = 1);

  // Takes bytes from the front of `bytes` and returns how many; it stops at the end of the reply.
  std::size_t feed(std::string_view bytes);
  bool complete() const { return step_ == Step::kDone; }
  // True when the bytes cannot be a reply (a negative count of keys): close the connection.
  bool failed() const { return failed_; }
  // The reply, once complete() is true.
  Reply& reply() { return reply_; }

 private:
  enum class Step : std::uint8_t { kCode, kWord, kNumber, kLength, kText, kDone };

  bool take(std::string_view& bytes, std::size_t wanted);
  void advance();
  void number_read();
  void next_value();

  Operation operation_;
  Step step_;
  std::uint64_t values_left_;
  std::uint64_t text_left_ = 0;
  std::string field_;  // bytes of a fixed-size field that has not arrived whole
  bool failed_ = false;
  Reply reply_;
};

}  // namespace ddprun::protocol
