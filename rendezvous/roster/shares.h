// How much of the server the runs take: all of them, and those that each network has begun. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace ddprun::roster {

class Shares {
 public:
  struct Share {
    std::size_t runs = 0;
    std::size_t bytes = 0;
  };

  // `network` (see Peer) has begun a run, of which nothing is counted yet. The other calls for that
  // run name the same one.
  void begin(const std::string& network);
  // A run took `before`, and takes `now`.
  void change(const std::string& network, std::size_t before, std::size_t now);
  // A run that took `bytes` is forgotten.
  void end(const std::string& network, std::size_t bytes);
  void clear();

  // Nothing of a network without runs.
  Share of(const std::string& network) const;
  std::size_t bytes() const { return bytes_; }  // of all runs

 private:
  std::unordered_map<std::string, Share> shares_;
  std::size_t bytes_ = 0;
};

}  // namespace ddprun::roster
