// What the pages are made of, at one moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/roster/snapshot.h"

namespace ddprun::http {

// Of one rdzvd among several.
struct HeadFigures {
  bool is_head = false;
  std::uint64_t terms = 0;               // as the head
  std::chrono::nanoseconds unwritten{};  // for so long a decision has been waiting to be written
};

// Of the server; those that are not "now" count from its start.
struct Figures {
  std::uint64_t store_connections = 0;   // now; with those that have not said what they speak
  std::uint64_t roster_connections = 0;  // now
  std::uint64_t http_connections = 0;    // now
  std::uint64_t accepted = 0;
  std::uint64_t strangers = 0;
  std::uint64_t turned_away = 0;
  std::uint64_t accept_pauses = 0;
  std::uint64_t store_dropped = 0;
  std::uint64_t roster_dropped = 0;
  std::uint64_t over_address_limit = 0;
  std::uint64_t addresses = 0;         // now
  std::uint64_t most_per_address = 0;  // now
  std::uint64_t tls_failed = 0;
  std::uint64_t tokens_refused = 0;
  std::uint64_t refused = 0;
  std::uint64_t store_requests = 0;
  std::uint64_t roster_messages = 0;
  std::uint64_t http_requests = 0;
  std::uint64_t store_keys = 0;           // now
  std::uint64_t store_waiting = 0;        // now
  std::uint64_t store_memory_bytes = 0;   // now
  std::uint64_t roster_memory_bytes = 0;  // now
  std::optional<HeadFigures> head = {};
};

struct View {
  std::string host;
  std::string version;
  bool embedded = false;           // in a ddprun, else rdzvd
  std::chrono::nanoseconds age{};  // of the server
  bool with_lines = false;         // show the output of failed workers
  Figures figures;
  std::vector<roster::Snapshot> runs;  // by id; those that were wanted
  std::size_t runs_in_all = 0;
};

// What of the runs is to be shown.
struct Wanted {
  std::optional<std::string> run;                                   // only this one
  std::size_t most_runs = std::numeric_limits<std::size_t>::max();  // the first ones by id
  bool workers = true;                                              // with their workers
};

}  // namespace ddprun::http
