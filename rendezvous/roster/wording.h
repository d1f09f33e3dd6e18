// The roster's sentences. Pure: the same facts give the same text, and however many nodes there are
// a text stays within a few hundred bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/roster/types.h"

namespace ddprun::roster {

// So many names or numbers are listed; of the rest there is only the number.
inline constexpr std::size_t kListed = 16;

// "a, b, c"; "a, b, … and 984 more".
std::string list_text(const std::vector<std::string>& names);
// "node rank 3", "node ranks 1-3, 7": of sorted numbers; "rank 3" with another noun.
std::string rank_text(const std::vector<int>& ranks, const std::string& noun = "node rank");
// "1 node", "2 nodes".
std::string count_text(std::size_t count, const std::string& noun);
// "exit code 3", "SIGSEGV".
std::string ending_text(std::optional<int> code, std::optional<int> signal);

// How a worker failed, in its node's words where it has given any, and for whom it had waited.
std::string failure_text(const protocol::Failed& failed);

// Who is there and who is not while a round forms.
struct Gathering {
  std::string run;
  std::size_t min_nodes = 1;
  std::size_t max_nodes = 1;
  std::vector<std::string> here;
  std::vector<int> missing_ranks;         // static only; else who is missing is told by number
  std::vector<std::string> draining;      // here, but their workers have not all ended
  nanoseconds waited{};                   // since the gathering began
  std::optional<nanoseconds> last_call;   // left, when enough are here
  std::optional<nanoseconds> until_over;  // left until the run gives up
};

// "2 of 4 nodes are here (a, b), node ranks 2-3 are missing".
std::string who_is_missing(const Gathering& gathering);
// The line that every waiting node prints.
std::string waiting_text(const Gathering& gathering);

}  // namespace ddprun::roster
