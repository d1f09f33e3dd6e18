// Uses every operation of our client against the store at 127.0.0.1:PORT and says what it found,
// one line each.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "rendezvous/client/store_client.h"

namespace {

using std::chrono::milliseconds;
using Keys = std::vector<std::string>;

constexpr milliseconds kPatience{10'000};

// The value, or the end of the program: a failed call has lost the connection.
template <class T>
T must(ddprun::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "store_visitor: %s\n", result.error().text.c_str());
  std::exit(1);
}
void must(ddprun::Result<void> result) {
  if (result) return;
  std::fprintf(stderr, "store_visitor: %s\n", result.error().text.c_str());
  std::exit(1);
}

void print(const char* what, const std::string& found) {
  std::printf("%s %s\n", what, found.c_str());
}
void print(const char* what, std::int64_t found) {
  print(what, std::to_string(found));
}

void visit(ddprun::client::StoreClient& client) {
  print("get", *must(client.get("from_python", kPatience)));
  must(client.set("from_cpp", "hello"));
  must(client.append("from_cpp", " there"));
  print("add", must(client.add("counter", 4)));
  print("compare_set", must(client.compare_set("from_python", "x", "y")));
  print("check", must(client.check(Keys{"from_cpp", "nope"})));
  print("wait", must(client.wait(Keys{"nope"}, milliseconds(20))));
  must(client.multi_set(std::vector<ddprun::protocol::KeyValue>{{"m1", "x"}, {"m2", "yz"}}));
  const auto values = must(client.multi_get(Keys{"m2", "m1"}, kPatience));
  print("multi_get", values->at(0) + values->at(1));
  print("delete", must(client.delete_key("m1")));
  must(client.queue_push("queue", "item"));
  print("queue_length", must(client.queue_length("queue")));
  print("queue_pop", *must(client.queue_pop("queue", kPatience)));
  print("queue_empty", must(client.queue_pop("queue", milliseconds(20))).has_value());
  Keys keys = must(client.list_keys());
  std::ranges::sort(keys);
  std::string joined;
  for (const std::string& key : keys) joined += key + ",";
  print("list_keys", joined);
  print("num_keys", must(client.num_keys()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ddprun::client::ClientOptions options;
  options.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  options.connect_timeout = kPatience;
  auto client = must(ddprun::client::StoreClient::connect(options));
  visit(client);
  return 0;
}
