// Where a durable server keeps what its runs must not forget with it, and whether it may still
// speak: the next one may have taken its place.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "rendezvous/roster/types.h"

namespace ddprun::server {

// For the metrics.
struct Standing {
  bool serves = false;                   // it is the head
  std::uint64_t terms = 0;               // how often it became that
  std::chrono::nanoseconds unwritten{};  // for so long a write has been waiting
};

// Used on the server's thread only.
class Keeper {
 public:
  // Writes all of `changes`; what was asked for first is written first. Then calls `written`, from
  // the event loop; never if the server may not speak any more.
  virtual void write(std::vector<roster::Change> changes, std::function<void()> written) = 0;
  // Whether nobody else can have taken this server's place yet.
  virtual bool leads() const = 0;
  virtual Standing standing() const = 0;

 protected:
  ~Keeper() = default;
};

}  // namespace ddprun::server
