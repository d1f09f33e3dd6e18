// One question to a rendezvous server over the roster protocol. Blocking.
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/base/result.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::guard {
class Tls;
class Token;
}  // namespace ddprun::guard

namespace ddprun::rdzvctl {

// What the server has to know or to be; null: nothing.
struct Keys {
  std::shared_ptr<const guard::Token> token;
  std::shared_ptr<const guard::Tls> tls;
};

struct Answer {
  Endpoint server;  // that has given it
  protocol::ServerMessage message;
};

// The answer to an AskStatus, AskCancel or AskStacks. A server is asked only when it has shown that
// it is the right one. Of several `servers` the first that answers counts, and none has more than
// two seconds to say that it is there; one that stands by leads to the head, and while there is
// none it is waited for. Error: nobody who speaks the protocol is there, or it refused; says which
// server and why.
Result<Answer> ask(std::span<const Endpoint> servers, const Keys& keys,
                   const protocol::AgentMessage& question, std::chrono::milliseconds limit);

}  // namespace ddprun::rdzvctl
