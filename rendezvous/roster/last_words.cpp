#include "rendezvous/roster/last_words.h"

#include <algorithm>
#include <utility>

#include "rendezvous/roster/footprint.h"

namespace ddprun::roster {

void LastWords::keep(const std::string& run, LastWord word, Time until) {
  runs_.insert_or_assign(run, Kept{std::move(word), until});
}

std::optional<protocol::Abort> LastWords::take(const Join& join) {
  const auto kept = runs_.find(join.run);
  if (kept == runs_.end()) return {};
  std::vector<MissedPlace>& missed = kept->second.last.missed;
  const auto place = std::ranges::find_if(missed, [&](const MissedPlace& each) {
    return join.node_rank ? *join.node_rank == each.node_rank : join.node == each.node;
  });
  if (place == missed.end()) return {};
  protocol::Abort word = kept->second.last.word;
  missed.erase(place);
  if (missed.empty()) runs_.erase(kept);
  return word;
}

void LastWords::forget(const std::string& run) {
  runs_.erase(run);
}

void LastWords::on_time(Time now) {
  std::erase_if(runs_, [&](const auto& each) { return now >= each.second.until; });
}

std::optional<Time> LastWords::wake_at() const {
  std::optional<Time> at;
  for (const auto& [run, kept] : runs_) at = std::min(at.value_or(kept.until), kept.until);
  return at;
}

std::size_t LastWords::memory_bytes() const {
  std::size_t sum = 0;
  for (const auto& [run, kept] : runs_)
    sum += sizeof kept + footprint(kept.last.word.cause) +
           kept.last.missed.size() * sizeof(MissedPlace);
  return sum;
}

}  // namespace ddprun::roster
