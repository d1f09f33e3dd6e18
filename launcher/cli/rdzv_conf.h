// --rdzv-conf K=V,...: the knobs of torchrun's rendezvous back ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::cli {

// The keys of `text` that no back end of torchrun has, in their order. An Error where an item is
// not KEY=VALUE. On one node there is nothing that the known ones could change, so their values are
// only looked at as far as torchrun itself would refuse them there.
Result<std::vector<std::string_view>> unknown_conf_keys(std::string_view text);

// "; did you mean X?" with the known key that is most like `key`, or "".
std::string did_you_mean_conf_key(std::string_view key);

}  // namespace ddprun::cli
