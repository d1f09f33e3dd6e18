// --rdzv-conf K=V,...: the knobs of torchrun's rendezvous back ends, and those of our own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/rendezvous_spec.h"
#include "rendezvous/base/result.h"

namespace ddprun::cli {

struct ReadConf {
  RendezvousConf conf;
  std::vector<std::string> unknown;  // keys that no back end has, and that are no slips
  std::vector<std::string> idle;     // keys of torchrun's that change nothing in ddprun
  bool in_a_file = false;            // store_type=file
  bool join_timeout_said = false;    // so `timeout` counts no more
};

// Adds what `text` says to what was said `before`. Blanks around keys and values are ignored, the
// last of two values counts, and `join_timeout` counts more than `timeout`. An Error where an item
// is not KEY=VALUE, where a key is nearly one that is known (which is named), or where a value is
// not what its key takes.
Result<ReadConf> read_conf(std::string_view text, ReadConf before = {});

// "; did you mean X?" with the known key that is most like `key`, or "".
std::string did_you_mean_conf_key(std::string_view key);

}  // namespace ddprun::cli
