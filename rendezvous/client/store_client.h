// A client of a c10d store: ours, or any PyTorch server from 2.5 on. PyTorch's counterpart is
// c10d::TCPStore with is_master=false; a key set here is found there under the same name.
//
// Blocking; one thread at a time. Any error of a call means that the connection is gone and that
// every later call fails too; "not there in time" is no error.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"
#include "rendezvous/client/connection.h"
#include "rendezvous/protocol/encode.h"
#include "rendezvous/protocol/reply_parser.h"

namespace ddprun::client {

using std::chrono::milliseconds;

struct ClientOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  // Look-up, connecting and greeting together may take so long, and are retried until then.
  milliseconds connect_timeout{30'000};
  bool retries = true;  // false: the first failure counts
  // How long the answer to a request may take, where the request itself waits for nothing.
  milliseconds reply_timeout{60'000};
  // Put before every key. PyTorch's is "/"; keys that begin otherwise are invisible to its clients.
  std::string key_prefix = "/";
};

class StoreClient {
 public:
  // Error: nothing that speaks the protocol was reached in time; says what was found last.
  static Result<StoreClient> connect(ClientOptions options);

  // Sets the key. Returns before the server has applied it; later calls of this client see it.
  Result<void> set(std::string_view key, std::string_view value);
  Result<void> append(std::string_view key, std::string_view tail);
  // All of them at once: nobody sees a part.
  Result<void> multi_set(std::span<const protocol::KeyValue> items);

  // The value, or nothing if there was no such key by the end of `timeout`.
  Result<std::optional<std::string>> get(std::string_view key, milliseconds timeout);
  // All values in the order of `keys`, or nothing if some key was not there in time.
  Result<std::optional<std::vector<std::string>>> multi_get(std::span<const std::string> keys,
                                                            milliseconds timeout);
  // The sum after the addition; a key that is not there counts as 0.
  Result<std::int64_t> add(std::string_view key, std::int64_t summand);
  // Replaces `expected` by `desired` and returns the value that is there afterwards. An absent key
  // is created if `expected` is empty; otherwise it stays absent and `expected` is returned.
  Result<std::string> compare_set(std::string_view key, std::string_view expected,
                                  std::string_view desired);
  // True if the key was there.
  Result<bool> delete_key(std::string_view key);
  // True if all keys are there now.
  Result<bool> check(std::span<const std::string> keys);
  // True once all keys are there, false at the end of `timeout`.
  Result<bool> wait(std::span<const std::string> keys, milliseconds timeout);

  // All keys of the server, of whatever prefix.
  Result<std::int64_t> num_keys();
  // The keys that begin with this client's prefix, without it, in any order.
  Result<std::vector<std::string>> list_keys();

  Result<void> queue_push(std::string_view name, std::string_view item);
  // The oldest item, or nothing if none could be had by the end of `timeout`.
  Result<std::optional<std::string>> queue_pop(std::string_view name, milliseconds timeout);
  Result<std::int64_t> queue_length(std::string_view name);

  // True when `world_size` clients have come to the barrier `key`, which serves once; false at the
  // end of `timeout`, but this client counts as one that came.
  Result<bool> barrier(std::string_view key, std::int64_t world_size, milliseconds timeout);

 private:
  StoreClient(ClientOptions options, Connection connection)
      : options_(std::move(options)), connection_(std::move(connection)) {}

  static Result<StoreClient> attempt(const ClientOptions& options, Clock::time_point deadline);
  std::string wire(std::string_view key) const { return options_.key_prefix + std::string(key); }
  std::vector<std::string> wire(std::span<const std::string> keys) const;
  Clock::time_point reply_deadline() const { return Clock::now() + options_.reply_timeout; }
  Result<void> send(std::string_view request);
  Result<protocol::Reply> receive(protocol::Operation operation, std::uint64_t keys = 1);
  Result<protocol::Reply> call(protocol::Operation operation, std::string_view request,
                               std::uint64_t keys = 1);
  Result<bool> call_and_wait(std::string_view request, milliseconds timeout);
  Result<bool> cancel_wait();

  ClientOptions options_;
  Connection connection_;
  std::string received_;  // bytes behind the last reply
  std::optional<Error> broken_;
};

}  // namespace ddprun::client
