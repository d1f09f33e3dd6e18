// From what the roster says to what the report room tells.
#pragma once

#include <optional>

#include "launcher/membership/member.h"
#include "launcher/membership/verdict.h"
#include "launcher/report/remote_cause.h"
#include "launcher/supervise/outcome.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::agent {

// The cause of an end that did not come from this node, for Facts::remote. Pure.
report::RemoteCause remote_cause(const membership::Verdict& verdict);

// The failed round of `order`, for Facts::earlier_attempts. Pure.
supervise::Attempt attempt_of(const membership::NoteAttempt& order);

// The worker's failure that `verdict` names is that of `rank`. Pure.
bool names_rank(const membership::Verdict& verdict, int rank);

}  // namespace ddprun::agent
