// What belongs to connections, found by descriptor: no search, and one cache line less for each
// request than a hash table needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ddprun::server {

// One T for each open descriptor, under an id that no other one has had: whoever kept the id of
// something that is gone finds nothing, whoever has its descriptor now.
template <class T>
class Slots {
 public:
  using Id = std::uint64_t;

  // The id that the next thing of `descriptor` gets from add().
  Id next_id(int descriptor) const {
    return (added_ + 1) << kDescriptorBits | static_cast<std::uint32_t>(descriptor);
  }

  // `descriptor` has nothing yet. `thing` does not move until remove().
  Id add(int descriptor, std::unique_ptr<T> thing) {
    const Id id = next_id(descriptor);
    ++added_;
    ++size_;
    const auto place = static_cast<std::size_t>(descriptor);
    if (place >= slots_.size()) slots_.resize(place + 1);
    slots_[place] = {id, std::move(thing)};
    return id;
  }

  // nullptr: it is gone, or never was.
  T* find(Id id) const {
    const auto place = static_cast<std::uint32_t>(id);
    return place < slots_.size() && slots_[place].id == id ? slots_[place].thing.get() : nullptr;
  }

  // `id` is there. The slot is free when the thing is destroyed.
  void remove(Id id) {
    const std::unique_ptr<T> gone = std::move(slots_[static_cast<std::uint32_t>(id)].thing);
    slots_[static_cast<std::uint32_t>(id)].id = 0;
    --size_;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Of all that are there now, in the order of their descriptors.
  std::vector<Id> ids() const {
    std::vector<Id> ids;
    for_each([&](Id id, const T&) { ids.push_back(id); });
    return ids;
  }

  // Calls visit(id, thing) for all that are there, in that order; it adds and removes none.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.id != 0) visit(slot.id, *slot.thing);
    }
  }

 private:
  static constexpr int kDescriptorBits = 32;
  struct Slot {
    Id id = 0;
    std::unique_ptr<T> thing;
  };

  std::vector<Slot> slots_;
  std::uint64_t added_ = 0;
  std::size_t size_ = 0;
};

}  // namespace ddprun::server
