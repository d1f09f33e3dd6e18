// Calls as bytes of the store's protocol, and answers out of them.
#pragma once

#include <string>

#include "rendezvous/protocol/reply_parser.h"
#include "tests/unit/linearizability/history.h"

namespace ddprun::linearizability {

// One request.
std::string encode(const Call& call);

// What an operation's reply means; not for WAIT that is cancelled.
Answer answer_of(Operation operation, const protocol::Reply& reply);

}  // namespace ddprun::linearizability
