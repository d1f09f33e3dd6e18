// A node's agent as a simulation has it.
#pragma once

#include <optional>
#include <string>

#include "tests/unit/roster/server_of_runs.h"

namespace ddprun::roster {

inline constexpr int kNodes = 4;
inline constexpr auto kReconnect = 5s;
inline constexpr auto kSilence = 15s;

// A node's agent as docs/protocol.md wants it, with workers that fail and stop when told to.
struct Agent {
  enum class State { off, waiting, working, stopping, finished };
  std::string name;
  int rank = 0;
  MemberId id = 0;
  MemberId place = 0;  // its id in `round`
  std::string by;      // whose `round` it is
  State state = State::off;
  bool stopped = false;  // SIGSTOP: it answers nothing
  bool away = false;     // cut off from the server, of which it hears nothing
  Time returns_at{};
  std::optional<Former> former;
  std::string first_run;  // whose node it became with its first round
  std::optional<Assignment> round;
  std::size_t read = 0;  // messages
  int pid = 0;
  Time stops_at{};
};

struct World {
  int min = 1;
  int max_restarts = 0;
  bool given_ranks = false;
  bool kills = false;  // the server, too
};

}  // namespace ddprun::roster
