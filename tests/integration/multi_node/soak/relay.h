// A TCP relay on loopback that can be cut and frozen: a network between one node and the server.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::nodes_soak {

// Connections to port() go on to 127.0.0.1:`server`. A thread of its own passes the bytes on; the
// calls are taken from any thread, and return when it is so.
class Relay {
 public:
  explicit Relay(std::uint16_t server);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::uint16_t port() const { return port_; }
  // Nothing passes, in neither direction, and nothing is lost.
  void freeze();
  // Resets all connections and refuses new ones.
  void cut();
  // As it was in the beginning. Throws where somebody else has taken the port after cut().
  void heal();

 private:
  enum class State { passing, frozen, cut, ended };
  struct Pair {
    UniqueFd client, server;
  };

  void set(State state);
  void run();
  void listen();  // on port_; no listener_ where it is taken
  void accept();
  bool pass(Pair& pair, short client_events, short server_events);
  void poll_once();

  std::uint16_t server_;
  std::uint16_t port_ = 0;
  UniqueFd wake_;
  UniqueFd listener_;
  std::list<Pair> pairs_;
  std::mutex mutex_;
  std::condition_variable taken_;
  State wanted_ = State::passing;
  State state_ = State::passing;
  std::thread thread_;
};

}  // namespace ddprun::nodes_soak
