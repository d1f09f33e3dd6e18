// A worker that uses its store all the time, until a file is there: busy_rank FILE [HOST:PORT].
// Says how often it did, and the longest time that it had to wait.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "rendezvous/client/store_client.h"

namespace {

using namespace ddprun;
using Clock = std::chrono::steady_clock;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool exists(const char* path) {
  struct stat status;
  return ::stat(path, &status) == 0;
}

// What the ranks of a job do to each other through a store.
Result<void> work(client::StoreClient& store, const std::string& rank, long step) {
  if (const auto sum = store.add("steps", 1); !sum) return sum.error();
  if (const auto set = store.set("of " + rank, std::to_string(step)); !set) return set.error();
  const auto value = store.get("of " + rank, std::chrono::seconds(60));
  if (!value) return value.error();
  if (*value != std::to_string(step)) return Error{"another value than the one that was set"};
  return {};
}

int say(const Error& error) {
  std::fprintf(stderr, "busy_rank: %s\n", error.text.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string place =
      argc > 2 ? argv[2] : variable("MASTER_ADDR") + ":" + variable("MASTER_PORT");
  const std::size_t colon = place.rfind(':');
  auto store = client::StoreClient::connect(
      {.host = place.substr(0, colon),
       .port = static_cast<std::uint16_t>(std::atoi(place.c_str() + colon + 1))});
  if (!store) return say(store.error());
  long steps = 0;
  Clock::duration longest{};
  for (; !exists(argv[1]); ++steps) {
    const auto before = Clock::now();
    if (const auto worked = work(*store, variable("RANK"), steps); !worked)
      return say(worked.error());
    longest = std::max(longest, Clock::now() - before);
    if (steps == 10) std::printf("up\n"), std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // of work between two of them
  }
  std::printf("worked %ld %ld\n", steps,
              std::chrono::round<std::chrono::milliseconds>(longest).count());
  return 0;
}
