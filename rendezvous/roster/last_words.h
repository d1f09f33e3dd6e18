// How runs have ended, for those of their nodes that were away then and may still come back.
//
// Pure. A run that has ended is forgotten; all that stays of it is here, and not for long.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/roster/types.h"

namespace ddprun::roster {

// A node that was not told how its run ended.
struct MissedPlace {
  std::string node;
  int node_rank = 0;
};

struct LastWord {
  protocol::Abort word;
  std::vector<MissedPlace> missed;
};

class LastWords {
 public:
  // A run has ended; until then its nodes may come back.
  void keep(const std::string& run, LastWord word, Time until);
  // What to tell a node that comes: it was away when its run ended, and has heard it now.
  std::optional<protocol::Abort> take(const Join& join);
  // Somebody else has begun a run under that id.
  void forget(const std::string& run);
  // Forgets what nobody comes back for any more.
  void on_time(Time now);
  void clear() { runs_.clear(); }

  std::optional<Time> wake_at() const;
  // About, of all.
  std::size_t memory_bytes() const;

 private:
  struct Kept {
    LastWord last;
    Time until{};
  };
  std::map<std::string, Kept> runs_;  // by run id
};

}  // namespace ddprun::roster
