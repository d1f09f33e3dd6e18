// Where the workers of this node find a store that is reached by TLS: PyTorch's client cannot speak
// it, so this passes its bytes on.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rendezvous/base/result.h"

namespace ddprun::guard {
class Tls;
}

namespace ddprun::agent {

struct StoreProxyOptions {
  std::string host;  // of the store
  std::uint16_t port = 0;
  std::shared_ptr<const guard::Tls> tls;
  std::function<void(const std::string& line)> say;  // what a user should know; not each of many
};

// Used on the thread that runs `io` only.
class StoreProxy {
 public:
  // Listens on 127.0.0.1, on a port of the system's choice, and connects to the store once for each
  // connection that comes. Error: it cannot listen.
  static Result<std::unique_ptr<StoreProxy>> listen(boost::asio::io_context& io,
                                                    StoreProxyOptions options);
  // Closes the port and every connection.
  ~StoreProxy();
  StoreProxy(const StoreProxy&) = delete;
  StoreProxy& operator=(const StoreProxy&) = delete;

  std::uint16_t port() const;

 private:
  class Impl;
  explicit StoreProxy(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace ddprun::agent
