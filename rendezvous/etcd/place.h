// Where etcd is, as users write it: etcd://HOST:PORT[,HOST:PORT…][/PREFIX].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/base/result.h"

namespace ddprun::etcd {

inline constexpr std::uint16_t kDefaultPort = 2379;

struct Place {
  std::vector<Endpoint> members;  // at least one
  std::string prefix;             // of all keys, with a slash at its end: "/ddprun/"
};

// The Error says what is wrong with the text, and what to write.
Result<Place> parse_place(std::string_view text);

// "etcd at h1:2379, h2:2379, below /ddprun/".
std::string to_text(const Place& place);

}  // namespace ddprun::etcd
