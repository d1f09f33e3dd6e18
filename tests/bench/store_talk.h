// What the clients of store_load say to a store server, in its own protocol.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace ddprun::bench {

struct StoreTalk {
  std::string greeting;  // answered by at least a byte
  std::function<std::string(std::size_t client, std::size_t turn)> request;
  std::size_t reply_bytes = 0;  // of the replies to one request; 0: up to the end of a line
};

// "add", "get", "set_get" or "wait", which waits for go_key(turn), in the protocol of c10d's
// TCPStore. Throws std::invalid_argument for anything else.
StoreTalk c10d_talk(const std::string& operation);
// The first three in that of Redis: INCR, GET, SET and GET.
StoreTalk redis_talk(const std::string& operation);

// What clients wait for in their turn, and how it is SET in c10d's protocol.
std::string set_go(std::size_t turn);

}  // namespace ddprun::bench
