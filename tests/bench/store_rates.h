// What single operations of a store cost, for the group store.
#pragma once

#include <vector>

#include "tests/bench/measurement.h"
#include "tests/bench/setup.h"

namespace ddprun::bench {

// Time and server CPU of an operation while 1, 64, 1,000 and 8,000 clients are busy, against
// PyTorch's libuv server, a raw epoll and Redis.
std::vector<Block> store_rates(const Setup& setup);

}  // namespace ddprun::bench
