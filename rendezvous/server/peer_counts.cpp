#include "rendezvous/server/peer_counts.h"

#include <algorithm>
#include <utility>

namespace ddprun::server {

bool PeerCounts::is_full(const std::string& address) const {
  const auto entry = book_->find(address);
  return limits_.connections > 0 && entry != book_->end() &&
         entry->second.connections >= limits_.connections;
}

std::optional<PeerCounts::ConnectionId> PeerCounts::too_slow(const std::string& address) {
  const auto entry = book_->find(address);
  if (limits_.unfinished == 0 || entry == book_->end()) return {};
  const auto& unfinished = entry->second.unfinished;
  if (unfinished.size() < limits_.unfinished) return {};
  return *unfinished.begin();
}

std::shared_ptr<PeerCounts::Place> PeerCounts::enter(const std::string& address) {
  return std::make_shared<Place>(book_, address);
}

std::size_t PeerCounts::most() const {
  std::size_t most = 0;
  for (const auto& [address, entry] : *book_) most = std::max(most, entry.connections);
  return most;
}

PeerCounts::Place::Place(std::shared_ptr<Book> book, std::string address)
    : book_(std::move(book)), address_(std::move(address)) {
  ++(*book_)[address_].connections;
}

PeerCounts::Place::~Place() {
  finish();
  const auto entry = book_->find(address_);
  if (--entry->second.connections == 0) book_->erase(entry);
}

void PeerCounts::Place::begin(ConnectionId id) {
  finish();
  unfinished_ = id;
  (*book_)[address_].unfinished.insert(id);
}

void PeerCounts::Place::finish() {
  if (unfinished_) (*book_)[address_].unfinished.erase(*std::exchange(unfinished_, {}));
}

}  // namespace ddprun::server
