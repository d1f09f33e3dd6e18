// One question to a rendezvous server over the roster protocol. Blocking.
#pragma once

#include <chrono>
#include <memory>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/base/result.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::guard {
class Token;
}

namespace ddprun::rdzvctl {

// The server's answer to an AskStatus, AskCancel or AskStacks. With a token it is asked only when
// it has shown that it knows it. Error: nobody who speaks the protocol is there, or it refused;
// says which server and why.
Result<protocol::ServerMessage> ask(const Endpoint& server,
                                    const std::shared_ptr<const guard::Token>& token,
                                    const protocol::AgentMessage& question,
                                    std::chrono::milliseconds limit);

}  // namespace ddprun::rdzvctl
