// Uses every operation of our client against the store at 127.0.0.1:PORT and says what it found,
// one line each. Operations that older servers do not have are used if they are named: queues,
// list_keys.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

// Words of the command line: operations that older servers do not have.
struct Newer {
  bool queues = false, list_keys = false;
};

void visit_queue(ddprun::client::StoreClient& client) {
  must(client.queue_push("queue", "item"));
  print("queue_length", must(client.queue_length("queue")));
  print("queue_pop", *must(client.queue_pop("queue", kPatience)));
  print("queue_empty", must(client.queue_pop("queue", milliseconds(20))).has_value());
}

void visit_list(ddprun::client::StoreClient& client) {
  Keys keys = must(client.list_keys());
  std::ranges::sort(keys);
  std::string joined;
  for (const std::string& key : keys) joined += key + ",";
  print("list_keys", joined);
}

void visit(ddprun::client::StoreClient& client, const Newer& newer) {
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
  if (newer.queues) visit_queue(client);
  if (newer.list_keys) visit_list(client);
  print("num_keys", must(client.num_keys()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  Newer newer;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "queues") == 0) newer.queues = true;
    if (std::strcmp(argv[i], "list_keys") == 0) newer.list_keys = true;
  }
  ddprun::client::ClientOptions options;
  options.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  options.connect_timeout = kPatience;
  auto client = must(ddprun::client::StoreClient::connect(options));
  visit(client, newer);
  return 0;
}
