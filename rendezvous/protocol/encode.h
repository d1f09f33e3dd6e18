// Requests as bytes, for a client. Each function appends one whole request to `out`; keys are wire
// keys (PyTorch's TCPStore puts "/" before the user's key).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rendezvous/protocol/operations.h"

namespace ddprun::protocol {

using KeyValue = std::pair<std::string, std::string>;

// First on every connection, and in one write: PyTorch's libuv server closes when it comes in two
// pieces.
void encode_validate(std::string& out);
// The server answers with the same 4 bytes. All bytes of a careful nonce are 0x80 or more: servers
// older than 2.2 then refuse it instead of waiting for a request of gigabytes.
void encode_ping(std::string& out, std::uint32_t nonce);

// GETNUMKEYS, CANCEL_WAIT, LIST_KEYS: operations without operands.
void encode_bare(std::string& out, Operation operation);
// GET, DELETE_KEY, QUEUE_POP, QUEUE_LEN: one key.
void encode_key(std::string& out, Operation operation, std::string_view key);
// SET, APPEND, QUEUE_PUSH: a key and a value.
void encode_key_value(std::string& out, Operation operation, std::string_view key,
                      std::string_view value);
// ADD: a key and the summand. BARRIER: a key and the world size.
void encode_key_number(std::string& out, Operation operation, std::string_view key,
                       std::int64_t number);
// CHECK, WAIT, MULTI_GET: any number of keys.
void encode_keys(std::string& out, Operation operation, std::span<const std::string> keys);
void encode_compare_set(std::string& out, std::string_view key, std::string_view expected,
                        std::string_view desired);
void encode_multi_set(std::string& out, std::span<const KeyValue> items);

}  // namespace ddprun::protocol
