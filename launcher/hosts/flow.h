// How much of what workers write may be on its way to the user's ddprun.
//
// Each stream of each node has credit: a byte of a line costs one, and where nothing is left the
// node does not read what its workers write. Whoever shows the lines gives the credit back while
// there is room for more. So what waits between the two is at most the credit and one reading of
// each stream, and nobody in between ever stops reading: how a node ends, what has failed, and
// orders pass, though nobody takes the lines.
//
// Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "launcher/hosts/messages.h"

namespace ddprun::hosts {

// For one stream of one of `nodes` nodes, 1 or more. The more there are the less each has, so that
// their sum stays the same.
std::uint32_t credit_of_stream(int nodes);

// The side that sends one stream.
class Allowance {
 public:
  explicit Allowance(std::uint32_t credit) : left_(credit) {}

  // Nothing may be read. What has been read may be sent, however much it is.
  bool spent() const { return left_ <= 0; }
  void spend(std::size_t bytes) { left_ -= static_cast<std::int64_t>(bytes); }
  void add(std::uint32_t bytes) { left_ += bytes; }

 private:
  std::int64_t left_;
};

// The side that shows the streams of all nodes.
class Debts {
 public:
  // `credit`: of each stream.
  Debts(int nodes, std::uint32_t credit);

  void take(const Lines& lines);
  // What is to be given back now that there is room for what `index` writes to `stream`: nothing
  // while it is not worth a message, because the node has at least half of its credit.
  std::optional<Credit> settle(int index, int stream);
  // The same of all nodes.
  std::vector<Credit> settle_all(int stream);

 private:
  std::uint32_t worth_;
  std::vector<std::array<std::uint32_t, 2>> owed_;  // by node, then stdout and stderr
};

}  // namespace ddprun::hosts
