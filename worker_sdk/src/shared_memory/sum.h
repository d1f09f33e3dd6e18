// The sum over the ranks of one machine, through memory that they share: one rank's side of it,
// without waiting and without LibTorch.
//
// Each rank has a slot twice over. A sum goes through it piece by piece: a rank writes the piece
// there, except for the part that it adds up itself; when all have, it adds up its part, in the
// order of the ranks, and writes it to its slot; when all have, it takes the other parts from their
// slots. So each part is added up once, and all ranks have the same bits. Between two ranks these
// are the bits of any other order, Gloo's as well.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "worker_sdk/src/shared_memory/faster_copy.h"

namespace ddp::detail {

// What one rank adds up.
struct Addend {
  enum class Type : std::uint8_t { kFloat = 1, kDouble = 2 };

  void* data = nullptr;  // the sum is written here
  std::size_t count = 0;
  Type type = Type::kFloat;
};

class SharedSum {
 public:
  // Of the memory that `ranks` ranks need.
  static std::size_t bytes_for(int ranks);

  // `memory` is shared by all ranks, all zero before the first one comes, and outlives this.
  SharedSum(void* memory, int rank, int ranks);

  // Begins the next sum; the one before must be done. All ranks begin the same sums in the same
  // order. `addend.data` stays until this one is done.
  void begin(const Addend& addend);

  enum class State { kWaiting, kDone, kDiffers };
  // Goes on as far as the others allow. kDiffers: another rank sums up something else, and nothing
  // more can be summed up; the data may have changed.
  State advance();

  // Those this rank waits for, ascending.
  std::vector<int> late() const;
  bool is_late(int rank) const;
  // Sleeps until one of them has come further, at most that long; may return at any time.
  void sleep(std::chrono::milliseconds longest) const;

  // What a rank says of itself when it takes part in no further sum: it has left, or has waited in
  // vain.
  enum class Presence : std::uint32_t { kHere, kLeft, kGaveUp };
  void say(Presence presence);
  Presence presence_of(int rank) const;

  // After kDiffers: "rank 1 has 4 numbers (float) and rank 0 5 numbers (float)", with the names
  // that `ranks` gives: its element i is rank i here.
  std::string difference(const std::vector<int>& ranks) const;

 private:
  struct Head;
  enum class Phase { kIdle, kGiven, kSummed, kBroken };

  Head& head(int rank) const;
  std::byte* slot(int rank) const;
  std::size_t piece() const;             // of what is left, in elements
  std::size_t begin_of(int part) const;  // within the piece, in bytes
  std::size_t size_of(int part) const;   // in bytes
  std::byte* at(int part) const;         // in the addend
  void give();
  void add_up();
  void take();
  void announce(Phase next);
  bool all_came() const;
  int differing_rank() const;  // or -1

  std::byte* memory_;
  int rank_, ranks_;
  Addend addend_;
  std::size_t done_ = 0;    // elements of the addend
  std::uint32_t step_ = 0;  // so often this rank has announced something
  unsigned side_ = 0;       // which of the two slots
  Phase phase_ = Phase::kIdle;
  FasterCopy faster_;
  FasterCopy::Way way_ = FasterCopy::Way::kCached;  // of this piece
};

}  // namespace ddp::detail
