// How a job on several nodes ends for one of them.
#pragma once

#include <optional>
#include <string>

#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::membership {

struct Verdict {
  enum class Kind {
    success,  // all workers of all nodes have ended with 0
    cause,    // `cause` ended the job, on this node or on another one
    lost,     // the server is gone, could not be reached, or did not want this node
    local,    // something that concerns this ddprun alone: a signal, a time limit
  };

  Kind kind = Kind::success;
  int exit_code = 0;  // not with `local`, where the outcome of the workers decides
  std::string text;   // one line, without "ddprun: "
  std::optional<protocol::Cause> cause = {};
  bool host_stopped = false;  // with `lost`: the ddprun with the server has said why it goes
};

}  // namespace ddprun::membership
