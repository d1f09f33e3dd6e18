// A worker for tests that need more than a shell. Its first word says what it does:
//
// words WORD…: prints each word of argv in brackets.
// bytes COUNT: writes COUNT lines "rank R line N …" to stdout, byte by byte.
// abort TEXT: prints TEXT and aborts, so that what its C library has not written yet is lost.
// store ROUNDS NAME: meets all other ranks in the store ROUNDS times, at keys that begin with NAME;
// prints "met" after the first time.
// last_words MILLISECONDS: connects to the store and prints "ready"; on SIGTERM uses the store for
// so long and prints "saved".
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "rendezvous/client/store_client.h"

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int print_words(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) std::printf("[%s]\n", argv[i]);
  return 0;
}

int write_bytes(int count) {
  for (int i = 0; i < count; ++i) {
    const std::string line =
        "rank " + variable("RANK") + " line " + std::to_string(i) + std::string(40, '.') + "\n";
    for (char byte : line)
      if (::write(STDOUT_FILENO, &byte, 1) != 1) return 1;
  }
  return 0;
}

int fail(const ddprun::Error& error) {
  std::fprintf(stderr, "store: %s\n", error.text.c_str());
  return 1;
}

ddprun::Result<ddprun::client::StoreClient> connect() {
  return ddprun::client::StoreClient::connect(
      {.host = variable("MASTER_ADDR"),
       .port = static_cast<std::uint16_t>(std::stoi(variable("MASTER_PORT")))});
}

int say_last_words(std::chrono::milliseconds grace) {
  using Clock = std::chrono::steady_clock;
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  auto client = connect();
  if (!client) return fail(client.error());
  std::puts("ready");
  std::fflush(stdout);
  int signo = 0;
  sigwait(&term, &signo);
  for (const auto until = Clock::now() + grace; Clock::now() < until;) {
    const auto count = client->add("words", 1);
    if (!count) return fail(count.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::puts("saved");
  return 0;
}

int meet(int rounds, const std::string& name) {
  const auto limit = std::chrono::seconds(20);
  auto client = connect();
  if (!client) return fail(client.error());
  const int world = std::stoi(variable("WORLD_SIZE"));
  for (int round = 0; round < rounds; ++round) {
    const std::string key = name + std::to_string(round);
    const auto count = client->add(key, 1);
    if (!count) return fail(count.error());
    if (*count == world) {
      if (const auto set = client->set(key + "/all", "1"); !set) return fail(set.error());
    } else {
      const std::string all[] = {key + "/all"};
      const auto woken = client->wait(all, limit);
      if (!woken) return fail(woken.error());
      if (!*woken) return fail({"not everybody came"});
    }
    if (round == 0) {
      std::puts("met");
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "words") return print_words(argc, argv);
  if (what == "bytes" && argc == 3) return write_bytes(std::atoi(argv[2]));
  if (what == "abort" && argc == 3) {
    std::puts(argv[2]);
    std::abort();
  }
  if (what == "last_words" && argc == 3)
    return say_last_words(std::chrono::milliseconds(std::atoi(argv[2])));
  if (what == "store" && argc == 4) return meet(std::atoi(argv[2]), argv[3]);
  std::fprintf(stderr, "ddprun_test_worker: unknown use\n");
  return 2;
}
