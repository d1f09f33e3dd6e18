// Values that hold for some ranks only: "0-7,12" and "0-7:3,*:1".
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ddprun::cli {

// Ranks from `first` to `last`, both included. A default-made one is empty.
struct RankRange {
  int first = 0;
  int last = -1;

  bool contains(int rank) const { return first <= rank && rank <= last; }
};

// The `*` of a list: every rank.
inline constexpr RankRange kEveryRank{0, 2'147'483'647};

struct RankSet {
  std::vector<RankRange> ranges;

  bool contains(int rank) const {
    for (const RankRange& range : ranges)
      if (range.contains(rank)) return true;
    return false;
  }
};

// Which of a worker's two streams something is done with: the 0 to 3 of -r and -t.
struct Streams {
  bool out = false;
  bool err = false;

  bool any() const { return out || err; }
};

// Local rank -> streams. An exact entry beats `*`, which is why `others` stands apart; of two exact
// ones the last counts.
struct StreamMap {
  Streams others;
  std::vector<std::pair<RankRange, Streams>> ranges;

  Streams of(int local_rank) const {
    for (auto entry = ranges.rbegin(); entry != ranges.rend(); ++entry)
      if (entry->first.contains(local_rank)) return entry->second;
    return others;
  }

  // Some stream of some rank.
  bool any() const {
    for (const auto& [range, streams] : ranges)
      if (streams.any()) return true;
    return others.any();
  }
};

// --wrap 'RANKS:COMMAND': the words of COMMAND come before the program of these (global) ranks.
struct Wrap {
  RankSet ranks;
  std::vector<std::string> words;  // %r, %l, %h and %a are not replaced yet
};

}  // namespace ddprun::cli
