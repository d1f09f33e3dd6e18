#include "rendezvous/client/store_client.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace ddprun::client {
namespace {

using protocol::Operation;
using protocol::Reply;

// All its bytes are 0x80 or more: a server older than PyTorch 2.2 then refuses it at once, where it
// would wait for the rest of a huge key with other numbers, and hang for all its clients.
constexpr std::uint32_t kNonce = 0xA5A5A5A5;
constexpr milliseconds kFirstDelay{10};
constexpr milliseconds kLongestDelay{1'000};

}  // namespace

Result<StoreClient> StoreClient::connect(ClientOptions options) {
  const Clock::time_point deadline = Clock::now() + options.connect_timeout;
  for (milliseconds delay = kFirstDelay;; delay = std::min(delay * 3 / 2, kLongestDelay)) {
    Result<StoreClient> client = attempt(options, deadline);
    if (client || !options.retries) return client;
    if (Clock::now() + delay >= deadline) {
      return Error{"no store was reached at " + options.host + ":" + std::to_string(options.port) +
                   " within " + std::to_string(options.connect_timeout.count()) +
                   " ms: " + client.error().text};
    }
    std::this_thread::sleep_for(delay);
  }
}

Result<StoreClient> StoreClient::attempt(const ClientOptions& options, Clock::time_point deadline) {
  Result<Connection> connection =
      Connection::open(options.host, options.port, deadline, "the store");
  if (!connection) return connection.error();
  StoreClient client(options, std::move(*connection));
  // A program that accepts and never answers must not use up more than the time for connecting.
  client.options_.reply_timeout = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  std::string hello;
  protocol::encode_validate(hello);
  protocol::encode_ping(hello, kNonce);
  const Result<Reply> pong = client.call(Operation::kPing, hello);
  if (!pong) return pong.error();
  if (pong->word != kNonce) return Error{"the program there does not speak the store's protocol"};
  client.options_.reply_timeout = options.reply_timeout;
  return client;
}

Result<void> StoreClient::set(std::string_view key, std::string_view value) {
  std::string request;
  protocol::encode_key_value(request, Operation::kSet, wire(key), value);
  return send(request);
}

Result<void> StoreClient::append(std::string_view key, std::string_view tail) {
  std::string request;
  protocol::encode_key_value(request, Operation::kAppend, wire(key), tail);
  return send(request);
}

Result<void> StoreClient::multi_set(std::span<const protocol::KeyValue> items) {
  std::vector<protocol::KeyValue> wired;
  for (const auto& [key, value] : items) wired.emplace_back(wire(key), value);
  std::string request;
  protocol::encode_multi_set(request, wired);
  return send(request);
}

Result<std::optional<std::string>> StoreClient::get(std::string_view key, milliseconds timeout) {
  const std::string name(key);
  auto values = multi_get({&name, 1}, timeout);
  if (!values) return values.error();
  if (!*values) return std::optional<std::string>();
  return std::optional(std::move((*values)->front()));
}

Result<std::optional<std::vector<std::string>>> StoreClient::multi_get(
    std::span<const std::string> keys, milliseconds timeout) {
  const Result<bool> there = wait(keys, timeout);
  if (!there) return there.error();
  if (!*there) return std::optional<std::vector<std::string>>();
  std::string request;
  protocol::encode_keys(request, Operation::kMultiGet, wire(keys));
  Result<Reply> reply = call(Operation::kMultiGet, request, keys.size());
  if (!reply) return reply.error();
  return std::optional(std::move(reply->values));
}

Result<std::int64_t> StoreClient::add(std::string_view key, std::int64_t summand) {
  std::string request;
  protocol::encode_key_number(request, Operation::kAdd, wire(key), summand);
  const Result<Reply> reply = call(Operation::kAdd, request);
  if (!reply) return reply.error();
  return reply->number;
}

Result<std::string> StoreClient::compare_set(std::string_view key, std::string_view expected,
                                             std::string_view desired) {
  std::string request;
  protocol::encode_compare_set(request, wire(key), expected, desired);
  Result<Reply> reply = call(Operation::kCompareSet, request);
  if (!reply) return reply.error();
  // A text could also be an Error's, so the kind of result is said.
  return Result<std::string>(boost::system::in_place_value, std::move(reply->values.front()));
}

Result<bool> StoreClient::delete_key(std::string_view key) {
  std::string request;
  protocol::encode_key(request, Operation::kDeleteKey, wire(key));
  const Result<Reply> reply = call(Operation::kDeleteKey, request);
  if (!reply) return reply.error();
  return reply->number > 0;
}

Result<bool> StoreClient::check(std::span<const std::string> keys) {
  std::string request;
  protocol::encode_keys(request, Operation::kCheck, wire(keys));
  const Result<Reply> reply = call(Operation::kCheck, request);
  if (!reply) return reply.error();
  return reply->code == protocol::kReady;
}

Result<bool> StoreClient::wait(std::span<const std::string> keys, milliseconds timeout) {
  std::string request;
  protocol::encode_keys(request, Operation::kWait, wire(keys));
  return call_and_wait(request, timeout);
}

Result<std::int64_t> StoreClient::num_keys() {
  std::string request;
  protocol::encode_bare(request, Operation::kGetNumKeys);
  const Result<Reply> reply = call(Operation::kGetNumKeys, request);
  if (!reply) return reply.error();
  return reply->number;
}

Result<std::vector<std::string>> StoreClient::list_keys() {
  std::string request;
  protocol::encode_bare(request, Operation::kListKeys);
  const Result<Reply> reply = call(Operation::kListKeys, request);
  if (!reply) return reply.error();
  std::vector<std::string> keys;
  for (const std::string& key : reply->values) {
    if (key.starts_with(options_.key_prefix))
      keys.push_back(key.substr(options_.key_prefix.size()));
  }
  return keys;
}

Result<void> StoreClient::queue_push(std::string_view name, std::string_view item) {
  std::string request;
  protocol::encode_key_value(request, Operation::kQueuePush, wire(name), item);
  return send(request);
}

Result<std::optional<std::string>> StoreClient::queue_pop(std::string_view name,
                                                          milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  const std::string key(name);
  std::string request;
  protocol::encode_key(request, Operation::kQueuePop, wire(name));
  for (;;) {
    Result<Reply> reply = call(Operation::kQueuePop, request);
    if (!reply) return reply.error();
    if (reply->number > 0) return std::optional(std::move(reply->values.front()));
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left <= milliseconds::zero()) return std::optional<std::string>();
    // Another client may take the item between the wake-up and the pop.
    const Result<bool> there = wait({&key, 1}, left);
    if (!there) return there.error();
  }
}

Result<std::int64_t> StoreClient::queue_length(std::string_view name) {
  std::string request;
  protocol::encode_key(request, Operation::kQueueLen, wire(name));
  const Result<Reply> reply = call(Operation::kQueueLen, request);
  if (!reply) return reply.error();
  return reply->number;
}

Result<bool> StoreClient::barrier(std::string_view key, std::int64_t world_size,
                                  milliseconds timeout) {
  std::string request;
  protocol::encode_key_number(request, Operation::kBarrier, wire(key), world_size);
  return call_and_wait(request, timeout);
}

std::vector<std::string> StoreClient::wire(std::span<const std::string> keys) const {
  std::vector<std::string> wired;
  for (const std::string& key : keys) wired.push_back(wire(key));
  return wired;
}

Result<void> StoreClient::send(std::string_view request) {
  if (broken_) return *broken_;
  Result<void> sent = connection_.send(request, reply_deadline());
  if (!sent) broken_ = sent.error();
  return sent;
}

Result<Reply> StoreClient::receive(Operation operation, std::uint64_t keys) {
  const Clock::time_point deadline = reply_deadline();
  protocol::ReplyParser parser(operation, keys);
  received_.erase(0, parser.feed(received_));
  while (!parser.complete() && !parser.failed()) {
    const Result<std::string_view> bytes = connection_.receive(deadline);
    if (!bytes) {
      broken_ = bytes.error();
      return *broken_;
    }
    received_ = bytes->substr(parser.feed(*bytes));
  }
  if (parser.failed()) {
    broken_ = Error{"the store's answer to " + std::string(protocol::name(operation)) +
                    " is not of its protocol"};
    return *broken_;
  }
  return std::move(parser.reply());
}

Result<Reply> StoreClient::call(Operation operation, std::string_view request, std::uint64_t keys) {
  if (const Result<void> sent = send(request); !sent) return sent.error();
  return receive(operation, keys);
}

// Sends a WAIT or BARRIER. True: it came true; false: it did not in time and was taken back.
Result<bool> StoreClient::call_and_wait(std::string_view request, milliseconds timeout) {
  if (const Result<void> sent = send(request); !sent) return sent.error();
  if (received_.empty() && !connection_.readable(Clock::now() + timeout)) return cancel_wait();
  const Result<Reply> reply = receive(Operation::kWait);
  if (!reply) return reply.error();
  return reply->code == protocol::kStopWaiting;
}

// The wake-up may cross the cancellation on the wire; the server then sends both answers.
Result<bool> StoreClient::cancel_wait() {
  std::string request;
  protocol::encode_bare(request, Operation::kCancelWait);
  const Result<Reply> first = call(Operation::kCancelWait, request);
  if (!first) return first.error();
  if (first->code == protocol::kWaitCanceled) return false;
  const Result<Reply> second = receive(Operation::kCancelWait);
  if (!second) return second.error();
  return true;
}

}  // namespace ddprun::client
