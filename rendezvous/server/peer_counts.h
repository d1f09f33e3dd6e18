// How many connections each address has, so that one of them does not take them all; with IPv6,
// each network, see network_text(). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace ddprun::server {

class PeerCounts {
 public:
  using ConnectionId = std::uint64_t;

  // 0: no limit.
  struct Limits {
    std::size_t connections = 0;  // of one address
    std::size_t unfinished = 0;   // of those, that have not said yet what they speak
  };
  explicit PeerCounts(Limits limits) : limits_(limits) {}

  // One more would be too many.
  bool is_full(const std::string& address) const;
  // Which unfinished one of the address is to be closed for a new one: the oldest, since whoever
  // means well says at once what it speaks. Nothing while there is room.
  std::optional<ConnectionId> too_slow(const std::string& address);

  // Counts a connection as long as it is held, wherever it is handed to. May outlive the counts.
  class Place;
  std::shared_ptr<Place> enter(const std::string& address);

  std::size_t addresses() const { return book_->size(); }
  std::size_t most() const;  // of one address

 private:
  struct Entry {
    std::size_t connections = 0;
    std::set<ConnectionId> unfinished;  // ids grow, so by age
  };
  using Book = std::unordered_map<std::string, Entry>;

  Limits limits_;
  std::shared_ptr<Book> book_ = std::make_shared<Book>();
};

class PeerCounts::Place {
 public:
  Place(std::shared_ptr<Book> book, std::string address);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const std::string& address() const { return address_; }

  // It is unfinished, and this one; in the place of the one before.
  void begin(ConnectionId id);
  // It has said what it speaks.
  void finish();

 private:
  std::shared_ptr<Book> book_;
  std::string address_;
  std::optional<ConnectionId> unfinished_;
};

}  // namespace ddprun::server
