// rdzvd's command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/base/result.h"
#include "rendezvous/etcd/place.h"
#include "rendezvous/guard/tls.h"

namespace ddprun::rdzvd {

inline constexpr std::chrono::seconds kDefaultLease{5};

struct Options {
  Endpoint listen;  // an empty host: all addresses
  bool http = true;
  std::optional<bool> store;  // none: unless there is a token, or a state
  std::optional<etcd::Place> state;
  std::optional<Endpoint> advertise;          // port 0: the one that is listened on
  std::optional<std::chrono::seconds> lease;  // none: kDefaultLease
  std::optional<std::string> token_file;
  guard::TlsFiles tls;
  std::optional<std::size_t> max_per_address;             // none: half of all; 0: no limit
  std::optional<std::size_t> max_unfinished_per_address;  // none: half of that
  std::size_t max_connections = 0;                        // 0: as many as open files allow
  std::uint64_t max_memory_bytes = std::uint64_t{4} << 30;
  std::chrono::milliseconds handshake_timeout{30'000};
  std::string log_level = "info";
  // Only print this, and end.
  bool help = false;
  bool version = false;
};

// One option, for the parser, the help and the manual page.
struct OptionText {
  std::string_view name;     // without dashes
  std::string_view metavar;  // empty: takes no value
  std::string_view fallback;
  std::string_view help;
};
std::span<const OptionText> option_texts();

// `words` without the program's name. The Error is one line that names the option and what is
// wrong.
Result<Options> parse_options(const std::vector<std::string>& words);
// A warning where agents on other hosts would be led to themselves; empty: they would not.
std::string warning_of_advertised(const Endpoint& advertised);
std::string help_text();

}  // namespace ddprun::rdzvd
