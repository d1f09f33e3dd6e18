// Progress bars: what a terminal shows of bytes that go back to the beginning of their line. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace ddprun::output {

// What is left to see of a line in which '\r' stands: the text behind the last '\r', where there is
// some, else the text before it. Sequences that move the cursor (bars of several rows use them) are
// left out, because the rows above belong to other ranks by now; colours stay.
std::string visible_part(std::string_view line);

// Whole lines, each reduced to its visible part where it holds a '\r'.
std::string visible_lines(std::string_view lines);

// The beginning of `text` that fits into `columns`; escape sequences take no room. A character
// counts as one column, as those of bars do.
std::string clip(std::string_view text, std::size_t columns);

// The unfinished bars of all streams that share a terminal, and the one that is shown.
class Bars {
 public:
  // The bar of `stream` from now on; an empty one goes. Streams are numbered so that the one to be
  // shown first has the lowest number.
  void set(int stream, std::string bar);
  // The bar of the lowest stream that has one; empty: nobody has.
  const std::string& shown() const;

 private:
  std::map<int, std::string> bars_;
};

}  // namespace ddprun::output
