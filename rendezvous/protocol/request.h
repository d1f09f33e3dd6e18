// One request of the c10d store protocol. All texts are views into the bytes it was parsed from.
#pragma once

#include <cstdint>
#include <string_view>

#include "rendezvous/protocol/operations.h"

namespace ddprun::protocol {

// One element of a counted request. `value` is empty except in MULTI_SET.
struct Item {
  std::string_view key;
  std::string_view value;
};

// The elements of a counted request, read from its bytes when they are asked for, so that a request
// with 131,072 keys costs no memory of its own. The bytes have been checked before an Items is
// made.
class Items {
 public:
  Items() = default;
  Items(std::uint64_t count, const char* first, bool with_values)
      : count_(count), first_(first), with_values_(with_values) {}

  class Iterator {
   public:
    Iterator(std::uint64_t left, const char* at, bool with_values)
        : left_(left), at_(at), with_values_(with_values) {
      read();
    }
    const Item& operator*() const { return item_; }
    const Item* operator->() const { return &item_; }
    Iterator& operator++() {
      --left_;
      read();
      return *this;
    }
    bool operator==(const Iterator& other) const { return left_ == other.left_; }

   private:
    void read();

    std::uint64_t left_;
    const char* at_;
    bool with_values_;
    Item item_;
  };

  Iterator begin() const { return {count_, first_, with_values_}; }
  Iterator end() const { return {0, nullptr, with_values_}; }
  std::uint64_t size() const { return count_; }

 private:
  std::uint64_t count_ = 0;
  const char* first_ = nullptr;
  bool with_values_ = false;
};

// Which members mean something is told by the operation's grammar (operations.h); the others are
// empty.
struct Request {
  Operation operation = Operation::kValidate;
  std::string_view key;
  std::string_view value;    // COMPARE_SET: the expected value
  std::string_view desired;  // COMPARE_SET only
  std::int64_t number = 0;   // ADD: the summand; BARRIER: the world size
  std::uint32_t word = 0;    // VALIDATE: the magic number; PING: the nonce
  Items items;               // CHECK, WAIT, MULTI_GET, MULTI_SET
  std::uint64_t bytes = 0;   // length of the whole request on the wire
};

}  // namespace ddprun::protocol
