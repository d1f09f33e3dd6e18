#include "rendezvous/etcd/messages.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "rendezvous/base/base64.h"
#include "rendezvous/base/first_line.h"
#include "rendezvous/base/printable.h"

namespace ddprun::etcd {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMostOfProblem = 300;  // bytes

Request request(const char* path, const json::object& body) {
  return {path, json::serialize(body)};
}

// The first key behind all that begin with `prefix`; every byte of ours is below 0xff.
std::string behind(std::string prefix) {
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

json::object range(const std::string& key) {
  return {{"key", to_base64(key)}};
}

json::object operation(const Put& put) {
  json::object one = range(put.key);
  if (!put.value) return {{"request_delete_range", std::move(one)}};
  one["value"] = to_base64(*put.value);
  return {{"request_put", std::move(one)}};
}

json::object put_with_lease(const std::string& key, const std::string& value, std::int64_t lease) {
  json::object put = range(key);
  put["value"] = to_base64(value);
  put["lease"] = std::to_string(lease);
  return {{"request_put", std::move(put)}};
}

json::object equal(const std::string& key, const char* target, const char* member,
                   std::int64_t value) {
  return {{"key", to_base64(key)},
          {"target", target},
          {"result", "EQUAL"},
          {member, std::to_string(value)}};
}

Request transaction(json::array compare, json::array success, const std::string& key) {
  return request("/v3/kv/txn", {{"compare", std::move(compare)},
                                {"success", std::move(success)},
                                {"failure", json::array{{{"request_range", range(key)}}}}});
}

// Numbers of 64 bits are strings in etcd's JSON, and what is 0 or empty is left out.
std::optional<std::int64_t> number_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  if (!value->is_string()) return {};
  const std::string_view text = value->get_string();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc() || end != text.end()) return {};
  return number;
}

std::optional<std::string> bytes_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return "";
  if (!value->is_string()) return {};
  return from_base64(value->get_string());
}

bool flag_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::object* object_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

Result<json::object> parse(std::string_view body) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::error_code error;
  const json::value value = json::parse(body, error, {}, options);
  if (error) return Error{"what etcd has sent is not JSON: " + error.message()};
  if (!value.is_object()) return Error{"what etcd has sent is no JSON object"};
  return value.get_object();
}

Result<KeyValue> key_value(const json::value& value) {
  const Error wrong{"etcd has sent a key that cannot be read"};
  const json::object* object = value.if_object();
  if (object == nullptr) return wrong;
  const auto key = bytes_in(*object, "key");
  const auto content = bytes_in(*object, "value");
  const auto made = number_in(*object, "create_revision");
  const auto version = number_in(*object, "version");
  const auto lease = number_in(*object, "lease");
  if (!key || !content || !made || !version || !lease || key->empty() || *made <= 0 ||
      *version <= 0)
    return wrong;
  return KeyValue{*key, *content, *made, *version, *lease};
}

Result<Listing> listing(const json::object& object) {
  Listing list{.keys = {}, .more = flag_in(object, "more")};
  const json::value* keys = object.if_contains("kvs");
  if (keys == nullptr) return list;
  if (!keys->is_array()) return Error{"etcd has sent keys that are no array"};
  for (const json::value& each : keys->get_array()) {
    auto key = key_value(each);
    if (!key) return key.error();
    list.keys.push_back(std::move(*key));
  }
  return list;
}

// Of a transaction that was not done: what its range has found.
Result<std::optional<KeyValue>> found_in(const json::object& object) {
  const json::value* responses = object.if_contains("responses");
  const json::array* array = responses == nullptr ? nullptr : responses->if_array();
  const json::object* first =
      array == nullptr || array->size() != 1 ? nullptr : array->front().if_object();
  const json::object* range = first == nullptr ? nullptr : object_in(*first, "response_range");
  if (range == nullptr) return Error{"etcd has not said why it did not take a transaction"};
  auto list = listing(*range);
  if (!list) return list.error();
  if (list->keys.empty()) return std::optional<KeyValue>();
  return std::optional(std::move(list->keys.front()));
}

}  // namespace

Request grant_lease(std::chrono::seconds life) {
  return request("/v3/lease/grant", {{"TTL", std::to_string(life.count())}});
}

Request keep_alive(std::int64_t lease) {
  return request("/v3/lease/keepalive", {{"ID", std::to_string(lease)}});
}

Request revoke(std::int64_t lease) {
  return request("/v3/lease/revoke", {{"ID", std::to_string(lease)}});
}

Request read_key(const std::string& key) {
  return request("/v3/kv/range", range(key));
}

Request list_keys(const std::string& prefix, const std::string& after, int most) {
  json::object body = range(after.empty() ? prefix : after + '\0');
  body["range_end"] = to_base64(behind(prefix));
  body["limit"] = std::to_string(most);
  return request("/v3/kv/range", body);
}

Request claim_key(const std::string& key, const std::string& value, std::int64_t lease) {
  return transaction({equal(key, "CREATE", "create_revision", 0)},
                     {put_with_lease(key, value, lease)}, key);
}

Request write_fenced(const Fence& fence, const std::vector<Put>& puts) {
  json::array success{put_with_lease(fence.key, fence.value, fence.lease)};
  for (const Put& put : puts) success.push_back(operation(put));
  return transaction({equal(fence.key, "CREATE", "create_revision", fence.create_revision),
                      equal(fence.key, "VERSION", "version", fence.version)},
                     std::move(success), fence.key);
}

Result<Lease> read_lease(std::string_view body) {
  // A renewal comes as the first message of a stream, one to a line.
  auto object = parse(first_line(body));
  if (!object) return object.error();
  const json::object* result = object_in(*object, "result");
  const json::object& answer = result != nullptr ? *result : *object;
  const auto id = number_in(answer, "ID");
  const auto life = number_in(answer, "TTL");
  if (!id || *id == 0 || !life || *life < 0 || *life > 1'000'000)
    return Error{"etcd has not answered with a lease: " + read_problem(body)};
  return Lease{*id, std::chrono::seconds(*life)};
}

Result<Listing> read_listing(std::string_view body) {
  const auto object = parse(body);
  if (!object) return object.error();
  if (object_in(*object, "header") == nullptr)
    return Error{"etcd has not answered with keys: " + read_problem(body)};
  return listing(*object);
}

Result<Outcome> read_outcome(std::string_view body) {
  const auto object = parse(body);
  if (!object) return object.error();
  const json::object* header = object_in(*object, "header");
  const auto revision = header == nullptr ? std::nullopt : number_in(*header, "revision");
  if (!revision || *revision <= 0)
    return Error{"etcd has not answered with a transaction: " + read_problem(body)};
  Outcome outcome{.done = flag_in(*object, "succeeded"), .revision = *revision, .found = {}};
  if (outcome.done) return outcome;
  auto found = found_in(*object);
  if (!found) return found.error();
  outcome.found = std::move(*found);
  return outcome;
}

std::string read_problem(std::string_view body) {
  if (const auto object = parse(body)) {
    const json::object* inner = object_in(*object, "error");
    const json::object& where = inner != nullptr ? *inner : *object;
    for (const char* name : {"message", "error"})
      if (const json::value* text = where.if_contains(name); text != nullptr && text->is_string())
        return printable(std::string(text->get_string().subview(0, kMostOfProblem)));
  }
  return "'" + printable(std::string(body.substr(0, kMostOfProblem))) + "'";
}

std::string explain_problem(std::string_view body, int status) {
  const std::string problem = read_problem(body);
  const std::string all = problem + " (HTTP " + std::to_string(status) + ")";
  if (problem.find("user name is empty") != std::string::npos)
    return all + "; rdzvd does not log in to etcd yet: it needs one without authentication";
  if (problem.find("database space exceeded") != std::string::npos)
    return all + "; compact and defragment etcd, then: etcdctl alarm disarm";
  if (problem.find("HTTPS server") != std::string::npos)
    return all + "; rdzvd does not speak TLS with etcd yet";
  if (status == 404) return "no etcd 3.4 or later answers at that port (HTTP 404)";
  return all;
}

}  // namespace ddprun::etcd
