// Who has asked for the stacks of a run's workers, and which of its nodes still have to answer.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/roster/types.h"

namespace ddprun::roster {

class StacksRequests {
 public:
  // Whoever has not answered after `timeout` is not waited for.
  explicit StacksRequests(nanoseconds timeout) : timeout_(timeout) {}

  // `asker` waits for the nodes with these connections and names. Returns the id for TakeStacks.
  std::uint64_t begin(Time now, MemberId asker, std::map<MemberId, std::string> awaited);
  // An answer that nobody waits for is ignored.
  void on_done(MemberId from, const protocol::StacksDone& done);
  // A connection has ended, of an asker or of a node: that one will not answer, `how` says why.
  void on_closed(MemberId connection, const std::string& how);
  // Forgets what `asker` has asked. False: nothing.
  bool forget(MemberId asker);
  void clear() { requests_.clear(); }

  struct Finished {
    MemberId asker = 0;
    protocol::StacksAnswer answer;
  };
  // Those that wait for nobody any more, or for too long; each once, in the order they were asked.
  std::vector<Finished> take_finished(Time now);

  // In the order they have asked.
  std::vector<MemberId> askers() const;
  // When the first one has waited for too long; none: nobody waits.
  std::optional<Time> wake_at() const;

 private:
  struct Request {
    MemberId asker = 0;
    std::map<MemberId, std::string> awaited;  // node names
    protocol::StacksAnswer answer;
    Time until{};
  };

  nanoseconds timeout_;
  std::map<std::uint64_t, Request> requests_;
  std::uint64_t last_ = 0;
};

}  // namespace ddprun::roster
