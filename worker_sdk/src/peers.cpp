#include "worker_sdk/src/peers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>

#include "ddp/environment.h"
#include "worker_sdk/src/own_sockets.h"
#include "worker_sdk/src/text.h"

namespace ddp::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kLongest = 2'000;  // characters that one rank leaves for the others
constexpr milliseconds kForTheLauncher{1'000}, kForOtherRanks{1'000}, kToSaySo{200}, kPause{50},
    kForTheStore{4'000};  // longer than what is waited for in it
constexpr const char* kAllWaited =
    "; but all have waited in vain: do they call the same collectives, in the same order and with "
    "tensors of the same sizes? TORCH_DISTRIBUTED_DEBUG=DETAIL names those that do not";

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

std::string socket_key(int rank) {
  return "ddp/sockets/" + std::to_string(rank);
}

}  // namespace

// A thread that the store keeps for ever is left to itself.
template <class Ask>
auto Peers::from_store(Ask ask) const -> decltype(ask(*this)) {
  using Answer = decltype(ask(*this));
  if (store_is_silent_) return Answer{};
  std::packaged_task<Answer()> task([self = shared_from_this(), ask] { return ask(*self); });
  std::future<Answer> answer = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error&) {
    return Answer{};  // no threads are left
  }
  if (answer.wait_for(kForTheStore) != std::future_status::ready) {
    store_is_silent_ = true;
    return Answer{};
  }
  try {
    return answer.get();
  } catch (const std::exception&) {
    return Answer{};
  }
}

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
  from_store([text](const Peers& own) {
    return set_first(*own.job_store_, "rank " + std::to_string(own.global_rank_) + " ended with " +
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

bool Peers::gave_up(int rank) const {
  return store_->check({late_key(rank)});
}

// Whoever takes part waits as long as this rank did.
Peers::Silent Peers::ask_all() const {
  store_->set(late_key(global_rank_), bytes("1"));
  Silent silent;
  for (const int rank : ranks_) {
    if (rank == global_rank_) continue;
    (is_sdk_rank(rank) ? silent.sdk_ranks : silent.strangers).push_back(rank);
  }
  const auto end = steady_clock::now() + kForOtherRanks;
  while (!silent.sdk_ranks.empty() && steady_clock::now() < end) {
    std::this_thread::sleep_for(kPause);
    std::erase_if(silent.sdk_ranks, [&](int rank) { return gave_up(rank); });
  }
  return silent;
}

Peers::Late Peers::late_ranks(const WaitsFor& waits_for) const {
  const std::lock_guard lock(mutex_);
  if (!silent_) silent_ = ask_all();
  std::vector<int> all;
  std::merge(silent_->sdk_ranks.begin(), silent_->sdk_ranks.end(), silent_->strangers.begin(),
             silent_->strangers.end(), std::back_inserter(all));
  if (waits_for.rank) {
    const bool silent = std::find(all.begin(), all.end(), *waits_for.rank) != all.end();
    return {silent ? std::vector<int>{*waits_for.rank} : std::vector<int>{}};
  }
  if (waits_for.all && !silent_->sdk_ranks.empty()) return {silent_->sdk_ranks};
  return {.ranks = all, .sure = all.size() == 1, .all_waited = all.empty()};
}

std::vector<int> Peers::missing_members(const std::string& reason) const {
  std::vector<int> missing;
  for (const int member : missing_at_barrier(reason)) {
    const auto index = static_cast<std::size_t>(member);
    if (index < ranks_.size()) missing.push_back(ranks_[index]);
  }
  return missing;
}

Reason Peers::explain_late(const std::string& reason, const WaitsFor& waits_for) const {
  Late late = from_store([waits_for](const Peers& own) { return own.late_ranks(waits_for); });
  // Rank 0 of the barrier knows better who came.
  if (const auto missing = missing_members(reason); !missing.empty()) late = {missing};
  std::string text = explain_gloo(with_global_ranks(reason, ranks_), late.ranks, late.sure);
  if (late.all_waited) text += kAllWaited;
  return {std::move(text), late.sure ? std::move(late.ranks) : std::vector<int>{}};
}

// Gloo closes the connections of a rank that has waited in vain, so that those who wait for the
// same one lose it.
Reason Peers::explain_closed(int rank, const WaitsFor& waits_for) const {
  Late late = from_store([waits_for](const Peers& own) { return own.late_ranks(waits_for); });
  std::string text = "rank " + std::to_string(rank) + " waited in vain and closed its connections";
  if (late.ranks.empty()) return {text + ": look at what it wrote"};
  text += ". " + who_is_late(late.ranks, late.sure);
  return {std::move(text), late.sure ? std::move(late.ranks) : std::vector<int>{}};
}

// Its connections close a moment before it can say so.
bool Peers::gives_up(int rank) const {
  const auto end = steady_clock::now() + kToSaySo;
  while (!gave_up(rank)) {
    if (steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

Reason Peers::explain_lost(const std::string& reason, const WaitsFor& waits_for) const {
  std::vector<int> lost = from_store([reason](const Peers& own) { return own.lost_ranks(reason); });
  const auto gave_up = [lost](const Peers& own) { return own.gives_up(lost[0]); };
  if (lost.size() == 1 && from_store(gave_up)) return explain_closed(lost[0], waits_for);
  let_the_launcher_hear();
  const std::string first = from_store([lost](const Peers& own) { return own.first_end(lost); });
  return {explain_gloo(with_global_ranks(reason, ranks_), lost) + first, std::move(lost)};
}

Reason Peers::explain(const std::string& reason, const WaitsFor& waits_for) const {
  if (is_failed_barrier(reason)) return explain_late(reason, {});
  if (is_lost_peer(reason)) return explain_lost(reason, waits_for);
  if (is_late_peer(reason)) return explain_late(reason, waits_for);
  return {explain_gloo(with_global_ranks(reason, ranks_))};
}

Reason Peers::explain_ended(int rank) const {
  let_the_launcher_hear();
  return {"rank " + std::to_string(rank) +
              " has ended or left the group: look at what it wrote before this line" +
              from_store([rank](const Peers& own) { return own.first_end({rank}); }),
          {rank}};
}

Reason Peers::explain_gave_up(int rank) const {
  return explain_closed(rank, {});
}

// Of these, some may wait for others in an operation that goes another way.
Reason Peers::explain_late(const std::vector<int>& ranks, milliseconds waited) const {
  const auto silent = from_store([](const Peers& own) { return own.late_ranks({}).ranks; });
  std::vector<int> late;
  std::set_intersection(ranks.begin(), ranks.end(), silent.begin(), silent.end(),
                        std::back_inserter(late));
  if (late.empty()) late = ranks;
  return {"waited " + seconds(waited) + " in vain. " + who_is_late(late), late};
}

WaitsFor waits_in(const std::string& operation) {
  return {.all = waits_for_all(operation), .rank = {}};
}

Explain explainer(std::shared_ptr<const Peers> peers, WaitsFor waits_for) {
  if (!peers) return as_it_is;
  return [peers = std::move(peers), waits_for](const std::string& reason) {
    return peers->explain(reason, waits_for);
  };
}

}  // namespace ddp::detail
