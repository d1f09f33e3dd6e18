// How runs have ended, for those of their nodes that come back later: they were cut off and could
// not hear it.
//
// Pure. A run that has ended is forgotten; all that stays of it is here, and not for long.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/roster/types.h"

namespace ddprun::roster {

class LastWords {
 public:
  // Over `max_bytes` those go first that would go first anyway.
  explicit LastWords(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // A run has ended with `word`; until then its nodes may come back.
  void keep(const std::string& run, const std::string& run_directory, protocol::ServerMessage word,
            Time until);
  // What to tell a node that was part of a run that has ended; nothing if that is not known.
  const protocol::ServerMessage* find(const Join& join) const;
  // Forgets what nobody comes back for any more.
  void on_time(Time now);
  void clear();

  // The run directories of those that were forgotten since the last call.
  std::vector<std::string> take_forgotten() { return std::exchange(forgotten_, {}); }

  std::optional<Time> wake_at() const;
  // About, of all.
  std::size_t memory_bytes() const { return bytes_; }

 private:
  // Run id and run directory: an agent's word for the latter must not lead to another run.
  using Key = std::pair<std::string, std::string>;
  struct Kept {
    protocol::ServerMessage word;
    Time until{};
    std::size_t bytes = 0;
  };
  void forget(std::map<Key, Kept>::iterator kept);
  void forget_first();

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::map<Key, Kept> words_;
  std::set<std::pair<Time, Key>> order_;
  std::vector<std::string> forgotten_;
};

}  // namespace ddprun::roster
