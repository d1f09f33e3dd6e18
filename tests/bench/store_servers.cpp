#include "tests/bench/store_servers.h"

namespace ddprun::bench {

StoreServer rdzvd_store(const Setup& setup) {
  return {
      "rdzvd", {setup.rdzvd, "--listen", "127.0.0.1:0", "--max-per-address", "0"}, no_rdzvd(setup)};
}

StoreServer libuv_store(const Setup& setup) {
  return {"PyTorch (libuv)", {setup.python, setup.libuv_store}, no_torch(setup)};
}

StoreServer raw_epoll_store(const Setup& setup) {
  return {"raw epoll", {setup.epoll_store}, ""};
}

StoreServer redis_store(const Setup& setup) {
  return {"Redis",
          {setup.redis_store, setup.redis},
          setup.redis.empty() ? "no Redis (Debian: redis-tools)" : "",
          "redis"};
}

StoreServer with_names(const Setup& setup, StoreServer server, const std::string& how) {
  server.command = Words{setup.names, how} + server.command;
  if (server.missing.empty()) server.missing = no_names(setup, how);
  return server;
}

}  // namespace ddprun::bench
