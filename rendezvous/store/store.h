// The keys, queues, waiters and barriers of one job. No I/O, no clock, one thread.
//
// Where PyTorch's two servers differ this follows the libuv one, except that a COMPARE_SET wakes
// waiters exactly when it creates the key, and that a MULTI_SET is applied once. Keys belong to
// nobody: they stay when the client that set them goes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rendezvous/protocol/reply_buffer.h"
#include "rendezvous/protocol/request.h"

namespace ddprun::store {

// Names one connection; chosen by the owner of the store and never used again for another one.
using ClientId = std::uint64_t;

struct StoreLimits {
  std::uint64_t max_memory_bytes = std::uint64_t{4} << 30;  // keys, values, queues, waiters
  std::uint64_t max_keys = 4'000'000;
};

class Store {
 public:
  explicit Store(StoreLimits limits = {}) : limits_(limits) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Applies one whole request of `client`, of any operation. The caller's reply, if it has one now,
  // goes to `reply`. Clients whose WAIT or BARRIER came true are added to `woken`, in the order in
  // which they are to be told; each is owed one kStopWaiting, behind `reply` if it is the caller
  // itself. Returns why the caller's connection must be closed (nothing was changed then), else
  // nothing. Costs the size of the request and O(1) for each waiter woken.
  std::optional<std::string> apply(ClientId client, const protocol::Request& request,
                                   protocol::ReplyBuffer& reply, std::vector<ClientId>& woken);

  // `client` has gone: its WAIT or BARRIER is forgotten, and nothing else. Unknown clients are no
  // error.
  void forget(ClientId client);

  // Keys that have a value, as GETNUMKEYS counts them.
  std::uint64_t keys() const { return keys_; }
  // What counts against max_memory_bytes: texts and a fixed sum for each key, queue item and
  // waiter.
  std::uint64_t memory_bytes() const { return memory_; }
  // Clients that wait for a key, a queue or a barrier.
  std::size_t waiting() const { return waits_.size(); }

 private:
  struct Wait;
  // One client's wait for one name; the place is waits.places[place].
  struct Waiter {
    Wait* wait;
    std::size_t place;
  };
  using Waiters = std::list<Waiter>;

  // All that goes by one name. It exists as long as it has a value, a queued item or a waiter.
  struct Name {
    std::shared_ptr<std::string> value;  // nullptr: no such key
    std::list<protocol::Value> queue;
    Waiters waiters;     // WAIT
    Waiters at_barrier;  // BARRIER
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Names = std::unordered_map<std::string, Name, Hash, std::equal_to<>>;
  using Entry = Names::value_type;

  // Where a Waiter is, so that it can be taken out at once. `entry` is nullptr when it has been
  // struck.
  struct Place {
    Entry* entry;
    Waiters* list;
    Waiters::iterator waiter;
  };
  struct Wait {
    ClientId client;
    std::size_t missing = 0;
    std::vector<Place> places;
  };

  // What apply() was called with, and what it is to return.
  struct Call {
    ClientId client;
    const protocol::Request& request;
    protocol::ReplyBuffer& reply;
    std::vector<ClientId>& woken;
    std::optional<std::string> refusal;
  };

  void dispatch(Call& call);
  void set(Call& call);
  void compare_set(Call& call);
  void add(Call& call);
  void check(Call& call);
  void wait(Call& call);
  void delete_key(Call& call);
  void append(Call& call);
  void multi_set(Call& call);
  void queue_push(Call& call);
  void queue_pop(Call& call);
  void list_keys(Call& call);
  void barrier(Call& call);

  Entry* find(std::string_view key);
  protocol::Value value_of(std::string_view key);
  bool exists(std::string_view key);
  std::size_t queue_length(std::string_view key);
  Entry& obtain(std::string_view key);
  void assign(Entry& entry, std::string_view value);
  void drop_if_empty(Entry& entry);

  static void refuse(Call& call, std::string_view why);
  // Refuses and returns false if `bytes` more, or `keys` more, would be over a limit.
  bool has_room(Call& call, std::uint64_t bytes, std::uint64_t keys = 0);
  static std::optional<std::int64_t> number_in(const Entry* entry, Call& call);
  void park(Wait& wait, Entry& entry, Waiters& list);
  void strike(Waiters& list, std::vector<ClientId>& woken);
  void strike_first(Waiters& list, std::vector<ClientId>& woken);
  void written(Entry& entry, std::vector<ClientId>& woken);

  StoreLimits limits_;
  Names names_;
  std::unordered_map<ClientId, Wait> waits_;
  std::uint64_t keys_ = 0;
  std::uint64_t memory_ = 0;
};

}  // namespace ddprun::store
