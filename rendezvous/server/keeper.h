// Where a durable server keeps what its runs must not forget with it, and whether it may still
// speak: the next one may have taken its place.
#pragma once

#include <functional>
#include <vector>

#include "rendezvous/roster/types.h"

namespace ddprun::server {

// Used on the server's thread only.
class Keeper {
 public:
  // Writes all of `changes`; what was asked for first is written first. Then calls `written`, from
  // the event loop; never if the server may not speak any more.
  virtual void write(std::vector<roster::Change> changes, std::function<void()> written) = 0;
  // Whether nobody else can have taken this server's place yet.
  virtual bool leads() const = 0;

 protected:
  ~Keeper() = default;
};

}  // namespace ddprun::server
