// Requests as one-liners for the tests, and the numbers and texts of replies as bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/protocol/encode.h"
#include "rendezvous/protocol/little_endian.h"

namespace ddprun::store {

using protocol::KeyValue;
using protocol::Operation;
using Keys = std::vector<std::string>;

inline std::string set(std::string_view key, std::string_view value) {
  std::string out;
  protocol::encode_key_value(out, Operation::kSet, key, value);
  return out;
}
inline std::string append(std::string_view key, std::string_view tail) {
  std::string out;
  protocol::encode_key_value(out, Operation::kAppend, key, tail);
  return out;
}
inline std::string push(std::string_view name, std::string_view item) {
  std::string out;
  protocol::encode_key_value(out, Operation::kQueuePush, name, item);
  return out;
}
inline std::string one_key(Operation operation, std::string_view key) {
  std::string out;
  protocol::encode_key(out, operation, key);
  return out;
}
inline std::string get(std::string_view key) {
  return one_key(Operation::kGet, key);
}
inline std::string pop(std::string_view name) {
  return one_key(Operation::kQueuePop, name);
}
inline std::string length(std::string_view name) {
  return one_key(Operation::kQueueLen, name);
}
inline std::string erase(std::string_view key) {
  return one_key(Operation::kDeleteKey, key);
}
inline std::string add(std::string_view key, std::int64_t number) {
  std::string out;
  protocol::encode_key_number(out, Operation::kAdd, key, number);
  return out;
}
inline std::string barrier(std::string_view key, std::int64_t world_size) {
  std::string out;
  protocol::encode_key_number(out, Operation::kBarrier, key, world_size);
  return out;
}
inline std::string many_keys(Operation operation, const Keys& keys) {
  std::string out;
  protocol::encode_keys(out, operation, keys);
  return out;
}
inline std::string wait(const Keys& keys) {
  return many_keys(Operation::kWait, keys);
}
inline std::string check(const Keys& keys) {
  return many_keys(Operation::kCheck, keys);
}
inline std::string multi_get(const Keys& keys) {
  return many_keys(Operation::kMultiGet, keys);
}
inline std::string multi_set(const std::vector<KeyValue>& items) {
  std::string out;
  protocol::encode_multi_set(out, items);
  return out;
}
inline std::string compare_set(std::string_view key, std::string_view expected,
                               std::string_view desired) {
  std::string out;
  protocol::encode_compare_set(out, key, expected, desired);
  return out;
}
inline std::string bare(Operation operation) {
  std::string out;
  protocol::encode_bare(out, operation);
  return out;
}

inline std::string number(std::int64_t value) {
  std::string out;
  protocol::store(out, value);
  return out;
}
inline std::string text(std::string_view value) {
  return number(static_cast<std::int64_t>(value.size())) + std::string(value);
}

inline const std::string kStop(1, protocol::kStopWaiting);
inline const std::string kCanceled(1, protocol::kWaitCanceled);
inline const std::string kIsReady(1, protocol::kReady);
inline const std::string kIsNotReady(1, protocol::kNotReady);

}  // namespace ddprun::store
