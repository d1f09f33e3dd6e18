#include "worker_sdk/src/shared_memory/agreement.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "ddp/error.h"
#include "worker_sdk/src/shared_memory/mapping.h"
#include "worker_sdk/src/text.h"

namespace ddp::detail {
namespace {

std::string offer_key(int rank) {
  return "ddp/shared_memory/offer/" + std::to_string(rank);
}

// Of what each rank says when it has the memory: its process, or why it cannot have it.
std::string answer_key(int rank) {
  return "ddp/shared_memory/answer/" + std::to_string(rank);
}

constexpr const char* kFileKey = "ddp/shared_memory/file";

std::vector<std::uint8_t> bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string text_at(c10d::Store& store, const std::string& key) {
  const auto value = store.get(key);
  return {value.begin(), value.end()};
}

bool can_watch_processes() {
  const ddprun::UniqueFd own(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return static_cast<bool>(own);
}

std::string rank_name(int global_rank) {
  return "rank " + std::to_string(global_rank);
}

// Why the offers do not fit together; empty if they do.
std::string objection(c10d::Store& store, const std::vector<int>& ranks) {
  std::vector<int> without;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!store.check({offer_key(static_cast<int>(i))})) without.push_back(ranks[i]);
  }
  if (!without.empty()) {
    return (without.size() == 1 ? "rank " : "ranks ") + rank_list(without) +
           (without.size() == 1 ? " does" : " do") +
           " not ask for it, or cannot watch other processes (Linux 5.3)";
  }
  const std::string place = text_at(store, offer_key(0));
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (text_at(store, offer_key(static_cast<int>(i))) == place) continue;
    return rank_name(ranks[i]) + " is on another machine than " + rank_name(ranks[0]) +
           ", or in another container";
  }
  return "";
}

// Rank 0 makes the memory, and the others open it. `file` keeps it open for them.
ddprun::Result<SharedMapping> make_or_open(c10d::Store& store, int rank, std::size_t size,
                                           std::chrono::milliseconds timeout,
                                           ddprun::UniqueFd& file) {
  if (rank == 0) {
    auto made = SharedMapping::make(size, file);
    std::ostringstream where;
    if (made) where << ::getpid() << " " << file.get();
    store.set(kFileKey, bytes(where.str()));
    return made;
  }
  store.wait({kFileKey}, timeout);
  std::istringstream where(text_at(store, kFileKey));
  SharedFile found;
  if (!(where >> found.pid >> found.fd)) return ddprun::Error{"rank 0 of the group has none"};
  return SharedMapping::open(found, size);
}

void wait_for_answers(c10d::Store& store, int rank, const std::vector<int>& ranks,
                      std::chrono::milliseconds timeout) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < ranks.size(); ++i) keys.push_back(answer_key(static_cast<int>(i)));
  std::vector<int> silent;
  try {
    return store.wait(keys, timeout);
  } catch (const std::exception&) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (!store.check({keys[i]})) silent.push_back(ranks[i]);
    }
    if (silent.empty()) throw;
  }
  throw Error(ranks[static_cast<std::size_t>(rank)],
              "sharing memory: waited " + seconds(timeout) + " for " +
                  (silent.size() == 1 ? "rank " : "ranks ") + rank_list(silent) +
                  ". Did one fail before it came here?",
              silent);
}

// Their processes if all have it, else the reason of the first one that has not.
std::string read_answers(c10d::Store& store, SharingRanks& sharing) {
  for (std::size_t i = 0; i < sharing.all.size(); ++i) {
    const std::string answer = text_at(store, answer_key(static_cast<int>(i)));
    std::istringstream number(answer);
    int pid = 0;
    if (!(number >> pid)) return rank_name(sharing.all[i]) + ": " + answer;
    sharing.pids.push_back(pid);
  }
  return "";
}

}  // namespace

bool can_share_memory() {
  const char* later = std::getenv("TORCH_GLOO_LAZY_INIT");
  return later == nullptr || *later == '\0' || std::string(later) == "0";
}

void offer_shared_memory(c10d::Store& store, int rank) {
  const std::string place = sharing_place();
  if (!place.empty() && can_watch_processes()) store.set(offer_key(rank), bytes(place));
}

SharedMemory agree_on_shared_memory(c10d::Store& store, int rank, const std::vector<int>& ranks,
                                    std::chrono::milliseconds timeout) {
  SharedMemory agreed;
  agreed.reason = objection(store, ranks);
  if (!agreed.reason.empty()) return agreed;
  ddprun::UniqueFd file;
  auto memory = make_or_open(store, rank, SharedSum::bytes_for(static_cast<int>(ranks.size())),
                             timeout, file);
  store.set(answer_key(rank), bytes(memory ? std::to_string(::getpid()) : memory.error().text));
  wait_for_answers(store, rank, ranks, timeout);
  SharingRanks sharing{rank, ranks, {}};
  agreed.reason = read_answers(store, sharing);
  if (!agreed.reason.empty()) return agreed;
  agreed.memory.emplace(std::move(*memory));
  agreed.ranks = std::move(sharing);
  return agreed;
}

}  // namespace ddp::detail
