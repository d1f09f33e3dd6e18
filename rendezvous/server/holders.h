// Who goes first where all together hold too much. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace ddprun::server {

// Of the address that holds most, whoever holds most. So an address loses nothing to another one
// that holds more than it does, over however many connections.
class Holders {
 public:
  struct Largest {
    std::uint64_t id;
    std::string address;
    std::uint64_t held;             // by it
    std::uint64_t held_by_address;  // by all of its address
  };

  void add(std::uint64_t id, const std::string& address, std::uint64_t held) {
    auto& [sum, most, whose] = of_[address];
    if (sum == 0 || held > most || (held == most && id < whose)) {
      most = held;
      whose = id;
    }
    sum += held;
  }

  // Of several alike at one address, the one with the smallest id. Nothing where nobody holds
  // anything.
  std::optional<Largest> largest() const {
    std::optional<Largest> result;
    for (const auto& [address, all] : of_)
      if (all.sum > (result ? result->held_by_address : 0))
        result = Largest{all.whose, address, all.most, all.sum};
    return result;
  }

 private:
  struct OfAddress {
    std::uint64_t sum = 0, most = 0, whose = 0;
  };
  std::unordered_map<std::string, OfAddress> of_;
};

}  // namespace ddprun::server
