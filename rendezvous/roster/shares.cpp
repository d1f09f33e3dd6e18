#include "rendezvous/roster/shares.h"

namespace ddprun::roster {

void Shares::begin(const std::string& network) {
  ++shares_[network].runs;
}

void Shares::change(const std::string& network, std::size_t before, std::size_t now) {
  bytes_ += now - before;
  shares_[network].bytes += now - before;
}

void Shares::end(const std::string& network, std::size_t bytes) {
  bytes_ -= bytes;
  const auto share = shares_.find(network);
  share->second.bytes -= bytes;
  if (--share->second.runs == 0) shares_.erase(share);
}

void Shares::clear() {
  shares_.clear();
  bytes_ = 0;
}

Shares::Share Shares::of(const std::string& network) const {
  const auto share = shares_.find(network);
  return share == shares_.end() ? Share{} : share->second;
}

}  // namespace ddprun::roster
