// One question to a rendezvous server over the roster protocol. Blocking.
#pragma once

#include <chrono>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/base/result.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::rdzvctl {

// The server's answer to an AskStatus, AskCancel or AskStacks. Error: nobody who speaks the
// protocol is there, or it refused; says which server and why.
Result<protocol::ServerMessage> ask(const Endpoint& server, const protocol::AgentMessage& question,
                                    std::chrono::milliseconds limit);

}  // namespace ddprun::rdzvctl
