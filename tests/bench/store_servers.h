// The store servers that are compared with each other.
#pragma once

#include <string>

#include "tests/bench/setup.h"

namespace ddprun::bench {

// One that an Announcer starts for a measurement; it says its port.
struct StoreServer {
  std::string name;
  Words command;
  std::string missing;        // why there is none; empty: there is
  std::string talk = "c10d";  // the word of its protocol for store_load
};

StoreServer rdzvd_store(const Setup& setup);
StoreServer libuv_store(const Setup& setup);
StoreServer raw_epoll_store(const Setup& setup);
StoreServer redis_store(const Setup& setup);

// The same with another name service; see names.cpp.
StoreServer with_names(const Setup& setup, StoreServer server, const std::string& how);

}  // namespace ddprun::bench
