#include "worker_sdk/src/join_marks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

namespace ddp::detail {
namespace {

struct Mark {
  int world_size = 0;
  std::string process;  // "pid 17 on host n1"
};

std::vector<std::string> keys_of(const std::vector<int>& ranks) {
  std::vector<std::string> keys;
  for (const int rank : ranks) keys.push_back("ddp/rank/" + std::to_string(rank));
  return keys;
}

std::string own_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "pid " + std::to_string(::getpid()) + " on host " + host.data();
}

Mark parsed(const std::vector<std::uint8_t>& value) {
  std::istringstream text(std::string(value.begin(), value.end()));
  Mark mark;
  text >> mark.world_size >> std::ws;
  std::getline(text, mark.process);
  return mark;
}

// Of the ranks that have one.
std::vector<std::pair<int, Mark>> marks_of(c10d::Store& store, const std::vector<int>& ranks) {
  std::vector<std::pair<int, Mark>> marks;
  const auto keys = keys_of(ranks);
  if (store.hasExtendedApi() && store.check(keys)) {
    const auto values = store.multiGet(keys);
    for (std::size_t i = 0; i < ranks.size(); ++i) marks.emplace_back(ranks[i], parsed(values[i]));
    return marks;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (store.check({keys[i]})) marks.emplace_back(ranks[i], parsed(store.get(keys[i])));
  }
  return marks;
}

}  // namespace

void set_join_mark(c10d::Store& store, const GroupState& all) {
  store.set(keys_of({all.rank})[0], std::to_string(all.size()) + " " + own_process());
}

bool all_have_join_marks(c10d::Store& store, const GroupState& group) {
  return group.gloo && store.check(keys_of(group.ranks));
}

std::string contradiction(c10d::Store& store, const GroupState& all) {
  for (const auto& [rank, mark] : marks_of(store, all.ranks)) {
    if (rank == all.rank && mark.process != own_process()) {
      return "another process has joined as rank " + std::to_string(rank) + " too, " +
             mark.process + ", beside this one, " + own_process() +
             ": each process needs a RANK of its own";
    }
    if (mark.world_size != all.size()) {
      return "the world size is " + std::to_string(all.size()) + " here and " +
             std::to_string(mark.world_size) + " on rank " + std::to_string(rank) +
             ": WORLD_SIZE must be the same for all";
    }
  }
  return "";
}

}  // namespace ddp::detail
