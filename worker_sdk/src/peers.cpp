#include "worker_sdk/src/peers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "ddp/environment.h"
#include "worker_sdk/src/own_sockets.h"
#include "worker_sdk/src/text.h"

namespace ddp::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kLongest = 2'000;  // characters that one rank leaves for the others
constexpr milliseconds kForTheLauncher{1'000}, kForOtherRanks{1'000}, kPause{50};

// A rank's connections break before its process has ended. A launcher takes the rank that ends
// first for the cause, so this one waits until the launcher has heard of the other; then it is
// usually stopped here.
void let_the_launcher_hear() {
  static std::atomic<bool> waited = false;
  if (std::getenv("TORCHELASTIC_RUN_ID") == nullptr || waited.exchange(true)) return;
  std::this_thread::sleep_for(kForTheLauncher);
}

// An older attempt of the same job is none of ours, should the store have outlived it.
std::string first_end_key() {
  return "ddp/first_end/" + std::to_string(restart_count());
}

std::string late_key(int rank) {
  return "ddp/waited_in_vain/" + std::to_string(rank);
}

std::vector<std::uint8_t> bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string text_of(const std::vector<std::uint8_t>& value) {
  return {value.begin(), value.end()};
}

// Sets what nobody has set before, and returns what is there now.
std::string set_first(c10d::Store& store, const std::string& text) {
  return text_of(store.compareSet(first_end_key(), {}, bytes(text)));
}

// The store may be gone as well: then what Gloo said is all there is.
template <class Action>
auto or_nothing(Action&& action) -> decltype(action()) {
  try {
    return action();
  } catch (const std::exception&) {
    return {};
  }
}

std::string socket_key(int rank) {
  return "ddp/sockets/" + std::to_string(rank);
}

}  // namespace

Peers::Peers(c10::intrusive_ptr<c10d::Store> store, c10::intrusive_ptr<c10d::Store> job_store,
             std::vector<int> ranks, int global_rank)
    : store_(std::move(store)),
      job_store_(std::move(job_store)),
      ranks_(std::move(ranks)),
      global_rank_(global_rank) {}

void Peers::publish_own_sockets() const {
  std::string all;
  for (const std::string& each : own_socket_addresses()) all += each + "\n";
  store_->set(socket_key(global_rank_), bytes(all));
}

void Peers::note_own_end(const std::string& text) const {
  or_nothing([&] {
    return set_first(*job_store_, "rank " + std::to_string(global_rank_) + " ended with " +
                                      text.substr(0, kLongest));
  });
}

bool Peers::is_sdk_rank(int rank) const {
  return store_->check({socket_key(rank)});
}

std::vector<int> Peers::lost_ranks(const std::string& reason) const {
  const std::string address = address_in(reason), swapped = with_swapped_port(address);
  if (address.empty()) return {};
  std::vector<int> strangers;
  for (const int rank : ranks_) {
    if (rank == global_rank_) continue;
    if (!is_sdk_rank(rank)) {
      strangers.push_back(rank);
      continue;
    }
    std::istringstream sockets(text_of(store_->get(socket_key(rank))));
    for (std::string each; std::getline(sockets, each);) {
      if (each == address || each == swapped) return {rank};
    }
  }
  // A rank that cannot be asked, where it is the only one.
  return strangers.size() == 1 ? strangers : std::vector<int>{};
}

std::string Peers::first_end(const std::vector<int>& lost) const {
  std::string first;
  if (lost.size() == 1) {
    const std::string name = "rank " + std::to_string(lost[0]);
    first = set_first(*job_store_, name + " was lost");
    if (first == name + " was lost") return "";  // has been said
  } else if (job_store_->check({first_end_key()})) {
    first = text_of(job_store_->get(first_end_key()));
  }
  return first.empty() ? "" : ". The first one: " + first;
}

// Whoever takes part waits as long as this rank did, so that who has not complained does not take
// part. Once: after that the marks are old.
std::vector<int> Peers::late_ranks() const {
  static std::atomic<bool> done = false;
  if (done.exchange(true)) return {};
  store_->set(late_key(global_rank_), bytes("1"));
  const auto end = steady_clock::now() + kForOtherRanks;
  std::vector<int> silent;
  do {
    std::this_thread::sleep_for(kPause);
    silent.clear();
    std::copy_if(ranks_.begin(), ranks_.end(), std::back_inserter(silent),
                 [&](int rank) { return is_sdk_rank(rank) && !store_->check({late_key(rank)}); });
  } while (!silent.empty() && steady_clock::now() < end);
  return silent;
}

Reason Peers::explain(const std::string& reason, bool all_wait) const {
  std::vector<int> who, late;
  std::string first;
  if (is_lost_peer(reason)) {
    who = or_nothing([&] { return lost_ranks(reason); });
    first = or_nothing([&] { return first_end(who); });
    let_the_launcher_hear();
  } else if (is_late_peer(reason) && all_wait) {
    who = late = or_nothing([&] { return late_ranks(); });
  }
  return {explain_gloo(with_global_ranks(reason, ranks_), who) + first, std::move(late)};
}

Explain explainer(std::shared_ptr<const Peers> peers, bool all_wait) {
  if (!peers) return as_it_is;
  return [peers = std::move(peers), all_wait](const std::string& reason) {
    return peers->explain(reason, all_wait);
  };
}

}  // namespace ddp::detail
