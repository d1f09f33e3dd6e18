// A worker of the soak of several nodes. It meets all others in the store of its round, writes a
// line about it into $SOAK_FOLDER/met (worlds.h says what is in it) and waits:
//
// SIGUSR1, or the file $SOAK_FOLDER/go: exits with 0. SIGUSR2 with a value: exits with that.
//
// With SOAK_EARLY it exits with 0 at once. It exits with 8 when the world is not what it should be,
// and with 9 when the store is lost, as a training program does whose peers vanish.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "rendezvous/client/store_client.h"

namespace {

using ddprun::client::StoreClient;

constexpr int kWrongWorld = 8;
constexpr int kStoreLost = 9;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void fail(int code, const std::string& why) {
  std::fprintf(stderr, "node_worker: %s\n", why.c_str());
  std::exit(code);
}

template <class T>
T need(ddprun::Result<T> result) {
  if (!result) fail(kStoreLost, result.error().text);
  return std::move(*result);
}

void on_signal(int signo, siginfo_t* info, void*) {
  ::_exit(signo == SIGUSR2 ? info->si_value.sival_int : 0);
}

void listen_to_signals() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGUSR1, &action, nullptr);
  ::sigaction(SIGUSR2, &action, nullptr);
}

// Returns what all who have met know, and those of no other round.
std::string meet(StoreClient& store, int world) {
  const std::string own = variable("SOAK_NODE") + "-" + std::to_string(::getpid());
  const std::string rank = "rank " + variable("RANK");
  if (need(store.compare_set(rank, "", own)) != own) fail(kWrongWorld, rank + " is there twice");
  const std::string token = need(store.compare_set("token", "", own));
  const auto count = need(store.add("count", 1));
  if (count > world) fail(kWrongWorld, "there are more ranks than the world has");
  if (count == world) {
    if (const auto set = store.set("all", "1"); !set) fail(kStoreLost, set.error().text);
  }
  const std::string all[] = {"all"};
  if (!need(store.wait(all, std::chrono::seconds(30)))) fail(kWrongWorld, "not all ranks came");
  return token;
}

void write_line(const std::string& token) {
  std::string line = token;
  for (const char* name :
       {"WORLD_SIZE", "RANK", "LOCAL_RANK", "SOAK_NODE", "TORCHELASTIC_RESTART_COUNT"})
    line += " " + variable(name);
  line += " " + std::to_string(::getpid()) + "\n";
  const std::string path = variable("SOAK_FOLDER") + "/met";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    fail(kWrongWorld, "cannot write to " + path);
  ::close(fd);
}

}  // namespace

int main() {
  StoreClient store = need(StoreClient::connect(
      {.host = variable("MASTER_ADDR"),
       .port = static_cast<std::uint16_t>(std::atoi(variable("MASTER_PORT").c_str()))}));
  const std::string token = meet(store, std::atoi(variable("WORLD_SIZE").c_str()));
  listen_to_signals();
  write_line(token);
  // Behind the line: whoever has made the file signals all who have written one.
  const bool released = ::access((variable("SOAK_FOLDER") + "/go").c_str(), F_OK) == 0;
  if (released || !variable("SOAK_EARLY").empty()) return 0;
  const std::string never[] = {"never"};
  need(store.wait(never, std::chrono::minutes(5)));
  return kWrongWorld;
}
