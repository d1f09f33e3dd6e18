// What is asked of etcd and what it answers: its v3 API as JSON, as its own gateway takes it. Pure.
//
// Keys and values are bytes here, and base64 on the wire.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::etcd {

struct Request {
  std::string path;  // "/v3/kv/txn"
  std::string body;
};

struct KeyValue {
  std::string key;
  std::string value;
  std::int64_t create_revision = 0;  // when it was made
  std::int64_t version = 0;          // how often it was written since, 1 at first
  std::int64_t lease = 0;            // 0: none
};

// One change; without a value the key is deleted.
struct Put {
  std::string key;
  std::optional<std::string> value;
};

// The key that a writer must still hold, as it was written last, for its writes to be taken.
struct Fence {
  std::string key;
  std::string value;
  std::int64_t lease = 0;
  std::int64_t create_revision = 0;
  std::int64_t version = 0;
};

Request grant_lease(std::chrono::seconds life);
Request keep_alive(std::int64_t lease);
Request revoke(std::int64_t lease);
Request read_key(const std::string& key);
// Keys that begin with `prefix` and come after `after` (empty: from the first), `most` at a time.
Request list_keys(const std::string& prefix, const std::string& after, int most);
// Makes the key with the lease unless it is there; else reads it.
Request claim_key(const std::string& key, const std::string& value, std::int64_t lease);
// Carries out `puts`, each for another key, all of them or none, and writes the fence's key anew,
// so that a write that was sent twice is taken once; else reads the fence's key.
Request write_fenced(const Fence& fence, const std::vector<Put>& puts);

struct Lease {
  std::int64_t id = 0;
  std::chrono::seconds life{};  // left; 0: there is no such lease
};
struct Listing {
  std::vector<KeyValue> keys;
  bool more = false;
};
struct Outcome {
  bool done = false;
  std::int64_t revision = 0;      // of the store when it was answered
  std::optional<KeyValue> found;  // if it was not done: what was read; none: no such key
};

// The answers. The Error says what is wrong with the text.
Result<Lease> read_lease(std::string_view body);
Result<Listing> read_listing(std::string_view body);
Result<Outcome> read_outcome(std::string_view body);
// What etcd says in the body of an answer that is none: "etcdserver: request timed out".
std::string read_problem(std::string_view body);
// The same of an answer with this HTTP status, with what to do where that is known.
std::string explain_problem(std::string_view body, int status);

}  // namespace ddprun::etcd
