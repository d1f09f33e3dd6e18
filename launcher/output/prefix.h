// The "[rank] " in front of a worker's lines.
#pragma once

#include <string>
#include <string_view>

namespace ddprun::output {

// Lines carry a prefix when the job has more than one worker and our own stream is a terminal; into
// a file or a pipe they go without, so that `> out.jsonl` stays valid.
bool uses_prefix(int world_size, bool terminal);

// Colour on a terminal, unless NO_COLOR is set to anything but nothing (no-color.org) or the
// terminal is "dumb". The arguments are what getenv gives, null where a variable is not set.
bool uses_color(bool terminal, const char* no_color, const char* term);

// "[3] ", the global rank, coloured by rank on request.
std::string make_prefix(int rank, bool color);

// Appends `lines` (whole lines, each with its newline) to `out`, each behind `prefix`.
void append_prefixed(std::string& out, std::string_view prefix, std::string_view lines);

}  // namespace ddprun::output
