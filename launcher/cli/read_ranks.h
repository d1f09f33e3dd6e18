// Readers of values that hold for some ranks only: "0-7,12", "0-7:3,*:1", "0:gdb --args".
//
// As in values.h, an Error's text has no option name in it.
#pragma once

#include <string_view>

#include "launcher/cli/rank_map.h"
#include "rendezvous/base/result.h"

namespace ddprun::cli {

// Ranks of a whole job; a greater one is taken for a slip.
inline constexpr int kHighestRank = 1'048'575;

// --local-ranks-filter: ranks, ranges FIRST-LAST and `*`, separated by commas.
Result<RankSet> read_rank_set(std::string_view text);

// --redirects, --tee: 0 to 3 for every local rank, or a map RANKS:STREAMS,... with one rank, range
// or `*` in each entry. A local rank that the map does not name has the value of `*`, else 0.
Result<StreamMap> read_stream_map(std::string_view text);

// --wrap RANKS:COMMAND, where RANKS is a rank set and COMMAND is split as a shell would.
Result<Wrap> read_wrap(std::string_view text);

}  // namespace ddprun::cli
