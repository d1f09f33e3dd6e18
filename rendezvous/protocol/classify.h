// Which protocol a new connection speaks, told from its first bytes: one port carries them all.
#pragma once

#include <cstdint>
#include <string_view>

namespace ddprun::protocol {

enum class Dialect : std::uint8_t {
  kUndecided,  // so far it could still become one of the others
  kC10d,       // 00 CE F7 85 3C: a store client of PyTorch 2.2 or newer, or ours
  kRoster,     // "DDPR": a node's agent
  kTls,        // 16 03: a TLS handshake
  kHttp,       // a method and a blank
  kOther,      // none of them, and no more bytes can change that
};

// `first` is everything that has arrived from the start of the connection, as short as it may be.
// At most 8 bytes are needed for an answer other than kUndecided.
Dialect classify(std::string_view first);

// How a log line calls it: "the c10d store protocol", "HTTP", …
std::string_view name(Dialect dialect);

}  // namespace ddprun::protocol
