// What clients of a store have asked and heard, and when: the input of the linearizability check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/operations.h"

namespace ddprun::linearizability {

using protocol::Operation;

// One request. `keys` has one key, but for CHECK, MULTI_GET and MULTI_SET; `values` are those of
// MULTI_SET by key, the value of SET, APPEND and QUEUE_PUSH, or what COMPARE_SET expects and sets.
struct Call {
  Operation operation = Operation::kGet;
  std::vector<std::string> keys = {};
  std::vector<std::string> values = {};
  std::int64_t number = 0;  // ADD: the summand
};

// What came back, as far as the operation is answered.
struct Answer {
  std::int64_t number = 0;  // ADD, DELETE_KEY, QUEUE_LEN; QUEUE_POP: the length before it
  bool ready = false;       // CHECK; WAIT: the keys came, else it was cancelled
  std::vector<std::string> values = {};  // GET, COMPARE_SET, MULTI_GET; QUEUE_POP: if it got one

  bool operator==(const Answer&) const = default;
};

// One request and its answer. A client is one connection. Times are of one monotonic clock, in any
// unit. Without an answer (the connection ended) the request may have taken effect at any time from
// `called` on, or never.
struct Event {
  std::size_t client = 0;
  std::int64_t called = 0;
  std::int64_t returned = 0;  // not before `called`; means nothing without an answer
  Call call;
  std::optional<Answer> answer;
};

// In any order, but the events of one client in the order in which it has sent them.
using History = std::vector<Event>;

// "client 2 from 10 to 17: ADD /x 3 = 5": for people.
std::string text_of(const Event& event);

}  // namespace ddprun::linearizability
