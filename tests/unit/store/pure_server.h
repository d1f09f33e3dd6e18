// Protocol and store put together without sockets: bytes of named clients in, bytes out.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rendezvous/protocol/encode.h"
#include "rendezvous/protocol/request_parser.h"
#include "rendezvous/store/store.h"

namespace ddprun::store {

class PureServer {
 public:
  explicit PureServer(StoreLimits limits = {}) : store_(limits) {}

  // Bytes of `client` arrive; the first ones connect it.
  void send(ClientId client, std::string_view bytes) {
    Connection& connection = connections_.try_emplace(client, limits_).first->second;
    connection.parser.feed(bytes);
    protocol::Request request;
    while (connection.parser.next(request)) {
      std::vector<ClientId> woken;
      const auto refusal = store_.apply(client, request, connection.out, woken);
      for (const ClientId id : woken) connections_.at(id).out.add_code(protocol::kStopWaiting);
      if (refusal) return close(client, *refusal);
    }
    if (connection.parser.failed()) close(client, connection.parser.error());
  }

  void greet(ClientId client) {
    std::string hello;
    protocol::encode_validate(hello);
    send(client, hello);
  }

  // The client goes away, or is sent away because of `why`.
  void close(ClientId client, std::string why = "") {
    store_.forget(client);
    connections_.erase(client);
    closed_[client] = std::move(why);
  }
  bool is_closed(ClientId client) const { return closed_.contains(client); }
  std::string why_closed(ClientId client) const { return closed_.at(client); }

  // All that has come for the client since the last call.
  std::string take(ClientId client) {
    std::string bytes;
    const auto found = connections_.find(client);
    if (found == connections_.end()) return bytes;
    std::array<iovec, 8> parts;
    while (const std::size_t used = found->second.out.gather(parts)) {
      std::size_t size = 0;
      for (std::size_t i = 0; i < used; ++i) {
        bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
        size += parts[i].iov_len;
      }
      found->second.out.consume(size);
    }
    return bytes;
  }

  Store& store() { return store_; }

 private:
  struct Connection {
    explicit Connection(const protocol::Limits& limits) : parser(limits) {}
    protocol::RequestParser parser;
    protocol::ReplyBuffer out;
  };

  protocol::Limits limits_;
  Store store_;
  std::map<ClientId, Connection> connections_;
  std::map<ClientId, std::string> closed_;
};

}  // namespace ddprun::store
