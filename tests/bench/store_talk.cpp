#include "tests/bench/store_talk.h"

#include <initializer_list>
#include <span>
#include <stdexcept>

#include "rendezvous/protocol/encode.h"

namespace ddprun::bench {
namespace {

using protocol::Operation;

const std::string kValue(64, 'v');

std::string key_of(std::size_t client) {
  return "/client/" + std::to_string(client);
}

std::string go_key(std::size_t turn) {
  return "/go/" + std::to_string(turn);
}

std::string c10d_add(std::size_t client, std::size_t) {
  std::string bytes;
  protocol::encode_key_number(bytes, Operation::kAdd, key_of(client), 1);
  return bytes;
}

std::string c10d_get(std::size_t, std::size_t) {
  std::string bytes;
  protocol::encode_key(bytes, Operation::kGet, "/k");
  return bytes;
}

std::string c10d_set_get(std::size_t client, std::size_t) {
  std::string bytes;
  protocol::encode_key_value(bytes, Operation::kSet, key_of(client), kValue);
  protocol::encode_key(bytes, Operation::kGet, key_of(client));
  return bytes;
}

// ADD tells that the client is about to wait.
std::string c10d_wait(std::size_t, std::size_t turn) {
  std::string bytes;
  const std::string go = go_key(turn);
  protocol::encode_key_number(bytes, Operation::kAdd, "/here", 1);
  protocol::encode_keys(bytes, Operation::kWait, std::span(&go, 1));
  return bytes;
}

// As Redis's own clients write it: an array of texts.
std::string command(std::initializer_list<std::string> words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words)
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return bytes;
}

std::string redis_set_get(std::size_t client, std::size_t) {
  return command({"SET", key_of(client), kValue}) + command({"GET", key_of(client)});
}

[[noreturn]] void unknown(const std::string& operation) {
  throw std::invalid_argument("unknown operation " + operation);
}

std::string c10d_greeting() {
  std::string bytes;
  protocol::encode_validate(bytes);
  protocol::encode_ping(bytes, 0xDDDDDDDD);
  protocol::encode_key_value(bytes, Operation::kSet, "/k", kValue);
  return bytes;
}

}  // namespace

StoreTalk c10d_talk(const std::string& operation) {
  if (operation == "add") return {c10d_greeting(), c10d_add, 8};
  if (operation == "get") return {c10d_greeting(), c10d_get, 8 + kValue.size()};
  if (operation == "set_get") return {c10d_greeting(), c10d_set_get, 8 + kValue.size()};
  if (operation == "wait") return {c10d_greeting(), c10d_wait, 9};
  unknown(operation);
}

StoreTalk redis_talk(const std::string& operation) {
  const std::string greeting = command({"SET", "/k", kValue}), set = "+OK\r\n",
                    got = "$64\r\n" + kValue + "\r\n";
  if (operation == "add")
    return {greeting, [](std::size_t client, std::size_t) {
              return command({"INCR", key_of(client)});
            }};
  if (operation == "get")
    return {greeting, [](std::size_t, std::size_t) { return command({"GET", "/k"}); }, got.size()};
  if (operation == "set_get") return {greeting, redis_set_get, set.size() + got.size()};
  unknown(operation);
}

std::string set_go(std::size_t turn) {
  std::string bytes;
  protocol::encode_key_value(bytes, Operation::kSet, go_key(turn), "1");
  return bytes;
}

}  // namespace ddprun::bench
