// What becomes of each stream of each worker: console, file, both, or neither. Pure.
#pragma once

#include <optional>

#include "launcher/cli/job_spec.h"
#include "launcher/cli/rank_map.h"

namespace ddprun::output {

enum class Stream { out, err };

// The wishes of the command line that decide it. Maps and sets are over local ranks.
struct Routing {
  cli::StreamMap redirects;
  cli::StreamMap tee;
  std::optional<cli::RankSet> console_ranks;  // none: all are shown
  bool files = true;                          // false with --log-dir /dev/null
  bool filter_out = false;                    // there are --duplicate-stdout-filters
  bool filter_err = false;
  cli::OutputMode mode = cli::OutputMode::automatic;
};

struct StreamPlan {
  // What the worker gets as its descriptor. `channel`: a pipe or pseudo-terminal that we read;
  // `file`: its log file, so nothing is copied; `inherited`: our own descriptor.
  enum class Descriptor { channel, file, inherited, null };
  Descriptor descriptor = Descriptor::channel;
  bool file = false;     // a log file gets its exact bytes
  bool console = false;  // it is shown
  bool filter = false;   // lines that match go to attempt_N/filtered_std{out,err}.log
};

// A stream that is both redirected and tee'd is tee'd, as under torchrun. A tee'd stream of a rank
// that is not shown goes to its file only. Filters see tee'd streams, those of ranks that are not
// shown included, because a message of such a rank is what people look for; where no stream at all
// is tee'd they see every stream that is not redirected (torchrun would write nothing). A
// redirected stream is not filtered: the worker writes into the file and nobody reads along.
StreamPlan plan_stream(const Routing& routing, Stream stream, int local_rank);

// Files were asked for and are kept: -r, -t or filters, without --log-dir /dev/null.
bool keeps_files(const Routing& routing);

}  // namespace ddprun::output
