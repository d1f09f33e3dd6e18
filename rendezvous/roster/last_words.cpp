#include "rendezvous/roster/last_words.h"

#include <variant>

#include "rendezvous/roster/footprint.h"

namespace ddprun::roster {

void LastWords::keep(const std::string& run, const std::string& run_directory,
                     protocol::ServerMessage word, Time until) {
  const Key key{run, run_directory};
  if (const auto old = words_.find(key); old != words_.end()) forget(old);
  // The key is kept twice.
  std::size_t bytes = sizeof(Kept) + 2 * (sizeof key + run.size() + run_directory.size());
  if (const auto* abort = std::get_if<protocol::Abort>(&word))
    bytes += footprint(abort->cause) + abort->why.size();
  words_.emplace(key, Kept{std::move(word), until, bytes});
  order_.emplace(until, key);
  bytes_ += bytes;
  while (bytes_ > max_bytes_) forget_first();
}

const protocol::ServerMessage* LastWords::find(const Join& join) const {
  if (!join.former) return nullptr;
  const auto kept = words_.find({join.run, join.former->run_directory});
  return kept == words_.end() ? nullptr : &kept->second.word;
}

void LastWords::on_time(Time now) {
  while (!order_.empty() && order_.begin()->first <= now) forget_first();
}

void LastWords::clear() {
  words_.clear();
  order_.clear();
  bytes_ = 0;
}

std::optional<Time> LastWords::wake_at() const {
  return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
}

void LastWords::forget(std::map<Key, Kept>::iterator kept) {
  bytes_ -= kept->second.bytes;
  order_.erase({kept->second.until, kept->first});
  words_.erase(kept);
}

void LastWords::forget_first() {
  forgotten_.push_back(order_.begin()->second.second);
  forget(words_.find(order_.begin()->second));
}

}  // namespace ddprun::roster
