#include "worker_sdk/src/shared_memory/sum.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "worker_sdk/src/shared_memory/streaming_copy.h"

namespace ddp::detail {
namespace {

constexpr std::size_t kSlot = std::size_t{1} << 20;  // bytes
constexpr std::size_t kLine = 64;      // of a cache: two ranks write no part of the same one
constexpr std::size_t kLarge = 32768;  // bytes; what copies less is done before it pays to choose

std::size_t width(Addend::Type type) {
  return type == Addend::Type::kFloat ? sizeof(float) : sizeof(double);
}

// What the ranks compare.
std::uint64_t description(const Addend& addend) {
  return std::uint64_t{addend.count} << 2 | static_cast<std::uint64_t>(addend.type);
}

std::string words(std::uint64_t description) {
  const bool is_float = (description & 3) == static_cast<std::uint64_t>(Addend::Type::kFloat);
  return std::to_string(description >> 2) + " numbers (" + (is_float ? "float" : "double") + ")";
}

void wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

// While it still has this value.
void sleep_at(std::atomic<std::uint32_t>& word, std::uint32_t value,
              std::chrono::milliseconds longest) {
  const auto ms = longest.count();
  const timespec time{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000) * 1'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &time, nullptr, 0);
}

void copy_to_slot(FasterCopy::Way way, void* to, const void* from, std::size_t bytes) {
  way == FasterCopy::Way::kStreaming ? streaming_copy(to, from, bytes)
                                     : static_cast<void>(std::memcpy(to, from, bytes));
}

// In the order of `addends`; the sum goes to both places, of which the first may be an addend.
template <class T>
void add_up_as(std::byte* own, std::byte* shared, FasterCopy::Way way,
               const std::vector<const std::byte*>& addends, std::size_t bytes) {
  constexpr std::size_t kBlock = 16384;  // stays in the first cache
  alignas(64) T sum[kBlock / sizeof(T)];
  for (std::size_t begin = 0; begin < bytes; begin += kBlock) {
    const std::size_t size = std::min(kBlock, bytes - begin);
    const std::size_t count = size / sizeof(T);
    const auto at = [&](std::size_t k) { return reinterpret_cast<const T*>(addends[k] + begin); };
    const T *first = at(0), *second = at(1);
    for (std::size_t i = 0; i < count; ++i) sum[i] = first[i] + second[i];
    for (std::size_t k = 2; k < addends.size(); ++k) {
      const T* next = at(k);
      for (std::size_t i = 0; i < count; ++i) sum[i] += next[i];
    }
    std::memcpy(own + begin, sum, size);
    copy_to_slot(way, shared + begin, sum, size);
  }
}

}  // namespace

// Only its rank writes it, except for `sleepers`.
struct alignas(128) SharedSum::Head {
  std::atomic<std::uint32_t> step;
  std::atomic<std::uint32_t> sleepers;  // waiting for another step
  std::atomic<Presence> presence;
  std::uint64_t description[2];  // of the sum that the slot on this side belongs to
};

std::size_t SharedSum::bytes_for(int ranks) {
  return static_cast<std::size_t>(ranks) * (sizeof(Head) + 2 * kSlot);
}

SharedSum::SharedSum(void* memory, int rank, int ranks)
    : memory_(static_cast<std::byte*>(memory)), rank_(rank), ranks_(ranks) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(Head) == 128);
}

SharedSum::Head& SharedSum::head(int rank) const {
  return *std::launder(reinterpret_cast<Head*>(memory_) + rank);
}

std::byte* SharedSum::slot(int rank) const {
  const auto before = static_cast<std::size_t>(rank) * 2 + side_;
  return memory_ + static_cast<std::size_t>(ranks_) * sizeof(Head) + before * kSlot;
}

std::size_t SharedSum::piece() const {
  return std::min(addend_.count - done_, kSlot / width(addend_.type));
}

std::size_t SharedSum::begin_of(int part) const {
  if (part == ranks_) return piece() * width(addend_.type);
  const std::size_t bytes = piece() * width(addend_.type) / static_cast<std::size_t>(ranks_);
  return bytes * static_cast<std::size_t>(part) / kLine * kLine;
}

std::size_t SharedSum::size_of(int part) const {
  return begin_of(part + 1) - begin_of(part);
}

std::byte* SharedSum::at(int part) const {
  return static_cast<std::byte*>(addend_.data) + done_ * width(addend_.type) + begin_of(part);
}

void SharedSum::begin(const Addend& addend) {
  addend_ = addend;
  done_ = 0;
  give();
}

void SharedSum::give() {
  side_ ^= 1;
  const std::size_t bytes = begin_of(ranks_) - size_of(rank_);
  const bool large = bytes >= kLarge;
  way_ = large ? faster_.next() : FasterCopy::Way::kCached;
  const auto start = std::chrono::steady_clock::now();
  for (int part = 0; part < ranks_; ++part) {
    if (part != rank_) copy_to_slot(way_, slot(rank_) + begin_of(part), at(part), size_of(part));
  }
  if (large) faster_.took(bytes, std::chrono::steady_clock::now() - start);
  head(rank_).description[side_] = description(addend_);
  announce(Phase::kGiven);
}

void SharedSum::add_up() {
  std::vector<const std::byte*> addends;
  for (int rank = 0; rank < ranks_; ++rank) {
    addends.push_back(rank == rank_ ? at(rank_) : slot(rank) + begin_of(rank_));
  }
  const auto add = addend_.type == Addend::Type::kFloat ? add_up_as<float> : add_up_as<double>;
  add(at(rank_), slot(rank_) + begin_of(rank_), way_, addends, size_of(rank_));
  announce(Phase::kSummed);
}

void SharedSum::take() {
  for (int part = 0; part < ranks_; ++part) {
    if (part != rank_) std::memcpy(at(part), slot(part) + begin_of(part), size_of(part));
  }
  done_ += piece();
}

void SharedSum::announce(Phase next) {
  phase_ = next;
  Head& own = head(rank_);
  own.step.store(++step_);
  if (own.sleepers.load() != 0) wake(own.step);
}

// Steps count in circles.
bool SharedSum::is_late(int rank) const {
  return static_cast<std::int32_t>(head(rank).step.load() - step_) < 0;
}

bool SharedSum::all_came() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (is_late(rank)) return false;
  }
  return true;
}

int SharedSum::differing_rank() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (head(rank).description[side_] != description(addend_)) return rank;
  }
  return -1;
}

SharedSum::State SharedSum::advance() {
  while (phase_ == Phase::kGiven || phase_ == Phase::kSummed) {
    if (!all_came()) return State::kWaiting;
    if (phase_ == Phase::kGiven && differing_rank() >= 0) {
      phase_ = Phase::kBroken;
    } else if (phase_ == Phase::kGiven) {
      add_up();
    } else {
      take();
      if (done_ == addend_.count) {
        phase_ = Phase::kIdle;
      } else {
        give();
      }
    }
  }
  return phase_ == Phase::kIdle ? State::kDone : State::kDiffers;
}

std::vector<int> SharedSum::late() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (is_late(rank)) ranks.push_back(rank);
  }
  return ranks;
}

void SharedSum::sleep(std::chrono::milliseconds longest) const {
  for (int rank = 0; rank < ranks_; ++rank) {
    Head& other = head(rank);
    const std::uint32_t seen = other.step.load();
    if (static_cast<std::int32_t>(seen - step_) >= 0) continue;
    ++other.sleepers;
    sleep_at(other.step, seen, longest);
    --other.sleepers;
    return;
  }
}

void SharedSum::say(Presence presence) {
  head(rank_).presence.store(presence);
}

SharedSum::Presence SharedSum::presence_of(int rank) const {
  return head(rank).presence.load();
}

std::string SharedSum::difference(const std::vector<int>& ranks) const {
  const int other = differing_rank();
  if (other < 0) return "";
  const auto name = [&](int rank) {
    return "rank " + std::to_string(ranks[static_cast<std::size_t>(rank)]) + " has " +
           words(head(rank).description[side_]);
  };
  return name(other) + " and " + name(rank_);
}

}  // namespace ddp::detail
