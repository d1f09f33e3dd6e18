// How decisions are put together.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "rendezvous/roster/types.h"

namespace ddprun::roster {

// The last word to a connection.
inline Decision answer(MemberId to, protocol::ServerMessage message, const std::string& reason) {
  Decision decision;
  decision.effects.push_back(Send{{to}, std::move(message), reason});
  decision.effects.push_back(Close{{to}, reason});
  return decision;
}

// The effects of `more` come behind those of `decision`; nothing else of it counts.
inline void append(Decision& decision, Decision more) {
  std::ranges::move(more.effects, std::back_inserter(decision.effects));
}

}  // namespace ddprun::roster
