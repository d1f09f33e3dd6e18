// Is there an order of all requests, each at some moment between its call and its return, in which
// one client alone would have got the same answers? If there is none, the store is not
// linearizable.
//
// The search of Wing and Gong with Lowe's memory of what was tried (as in Porcupine), for each set
// of keys that some request has together by itself. One rule is stricter: the requests of one
// client take effect in the order in which it has sent them, though it may not have waited for the
// answers.
#pragma once

#include <cstdint>
#include <string>

#include "tests/unit/linearizability/history.h"

namespace ddprun::linearizability {

struct Verdict {
  enum class Kind { linearizable, violated, undecided };
  Kind kind = Kind::linearizable;
  std::uint64_t steps = 0;  // orders tried, as far as they differ
  // Of a violation: the keys, as much as could be put in order, and what cannot follow it. Of what
  // is undecided: that `most_steps` were not enough.
  std::string text;
};

// The answer of a WAIT that was cancelled says that its keys were not all there at some moment.
Verdict check(const History& history, std::uint64_t most_steps = 300'000);

}  // namespace ddprun::linearizability
