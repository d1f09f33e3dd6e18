#include "rendezvous/protocol/encode.h"

#include "rendezvous/protocol/little_endian.h"

namespace ddprun::protocol {
namespace {

void put_text(std::string& out, std::string_view text) {
  store<std::uint64_t>(out, text.size());
  out.append(text);
}

}  // namespace

void encode_bare(std::string& out, Operation operation) {
  out.push_back(static_cast<char>(operation));
}

void encode_validate(std::string& out) {
  encode_bare(out, Operation::kValidate);
  store(out, kMagic);
}

void encode_ping(std::string& out, std::uint32_t nonce) {
  encode_bare(out, Operation::kPing);
  store(out, nonce);
}

void encode_key(std::string& out, Operation operation, std::string_view key) {
  encode_bare(out, operation);
  put_text(out, key);
}

void encode_key_value(std::string& out, Operation operation, std::string_view key,
                      std::string_view value) {
  encode_key(out, operation, key);
  put_text(out, value);
}

void encode_key_number(std::string& out, Operation operation, std::string_view key,
                       std::int64_t number) {
  encode_key(out, operation, key);
  store(out, number);
}

void encode_keys(std::string& out, Operation operation, std::span<const std::string> keys) {
  encode_bare(out, operation);
  store<std::uint64_t>(out, keys.size());
  for (const std::string& key : keys) put_text(out, key);
}

void encode_compare_set(std::string& out, std::string_view key, std::string_view expected,
                        std::string_view desired) {
  encode_key_value(out, Operation::kCompareSet, key, expected);
  put_text(out, desired);
}

void encode_multi_set(std::string& out, std::span<const KeyValue> items) {
  encode_bare(out, Operation::kMultiSet);
  store<std::uint64_t>(out, items.size());
  for (const auto& [key, value] : items) {
    put_text(out, key);
    put_text(out, value);
  }
}

}  // namespace ddprun::protocol
