#include "tests/integration/etcd/real_etcd.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kHealthy{20};
constexpr const char* kEtcd = "/usr/bin/etcd";
constexpr const char* kEtcdctl = "/usr/bin/etcdctl";

RunOptions with_api() {
  return {.environment = {"ETCDCTL_API=3"}};
}

}  // namespace

std::string RealEtcd::why_not() {
  for (const char* program : {kEtcd, kEtcdctl})
    if (::access(program, X_OK) != 0)
      return std::string(program) + " is not there (Debian: etcd-server, etcd-client)";
  return "";
}

RealEtcd::RealEtcd(std::chrono::seconds limit, std::vector<std::string> options)
    : limit_(limit), options_(std::move(options)) {
  for (int i = 0; i < kMembers; ++i) {
    client_ports_[static_cast<std::size_t>(i)] = free_port();
    peer_ports_[static_cast<std::size_t>(i)] = free_port();
  }
  for (int i = 0; i < kMembers; ++i) start(i);
}

std::string RealEtcd::client_url(int number) const {
  return "http://127.0.0.1:" + client_ports_[static_cast<std::size_t>(number)];
}

std::string RealEtcd::peer_url(int number) const {
  return "http://127.0.0.1:" + peer_ports_[static_cast<std::size_t>(number)];
}

void RealEtcd::start(int number) {
  stopped_[static_cast<std::size_t>(number)] = false;
  std::string all;
  for (int i = 0; i < kMembers; ++i)
    all += (i == 0 ? "m" : ",m") + std::to_string(i) + "=" + peer_url(i);
  const std::string name = "m" + std::to_string(number);
  Words words{kEtcd, "--name", name, "--data-dir", folder_ / name};
  for (const char* listen : {"--listen-client-urls", "--advertise-client-urls"})
    words.insert(words.end(), {listen, client_url(number)});
  for (const char* listen : {"--listen-peer-urls", "--initial-advertise-peer-urls"})
    words.insert(words.end(), {listen, peer_url(number)});
  words.insert(words.end(), {"--initial-cluster", all, "--initial-cluster-token", folder_.path(),
                             "--initial-cluster-state", "new", "--heartbeat-interval", "100",
                             "--election-timeout", "1000", "--log-level", "fatal"});
  words.insert(words.end(), options_.begin(), options_.end());
  members_[static_cast<std::size_t>(number)] =
      std::make_unique<Program>(words, RunOptions{.limit = limit_});
}

void RealEtcd::kill(int number) {
  ::kill(member(number).pid(), SIGKILL);
  member(number).wait_for_end();
  members_[static_cast<std::size_t>(number)].reset();
}

void RealEtcd::stop(int number) {
  ::kill(member(number).pid(), SIGSTOP);
  stopped_[static_cast<std::size_t>(number)] = true;
}

void RealEtcd::go_on(int number) {
  ::kill(member(number).pid(), SIGCONT);
  stopped_[static_cast<std::size_t>(number)] = false;
}

bool RealEtcd::is_healthy() const {
  const auto until = Clock::now() + kHealthy;
  while (Clock::now() < until) {
    bool all = true;
    for (int i = 0; i < kMembers && all; ++i)
      all = !answers(i) || run({kEtcdctl, "--endpoints", client_url(i), "--command-timeout", "2s",
                                "endpoint", "health"},
                               with_api())
                                   .code == 0;
    if (all) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

// "http://…:1, 8e9e05c52164694d, 3.4.23, 20 kB, true, false, 2, 9, 9, "
int RealEtcd::leader() const {
  for (int i = 0; i < kMembers; ++i) {
    if (!answers(i)) continue;
    const Finished status = run(
        {kEtcdctl, "--endpoints", client_url(i), "--command-timeout", "1s", "endpoint", "status"},
        with_api());
    if (status.out.find("B, true, ") != std::string::npos) return i;
  }
  return -1;
}

std::string RealEtcd::place(const std::string& prefix) const {
  std::string text = "etcd://";
  for (int i = 0; i < kMembers; ++i)
    text += (i == 0 ? "" : ",") + std::string("127.0.0.1:") +
            client_ports_[static_cast<std::size_t>(i)];
  return text + prefix;
}

std::string RealEtcd::read(const std::string& key) const {
  for (int i = 0; i < kMembers; ++i) {
    if (!answers(i)) continue;
    const Finished value =
        run({kEtcdctl, "--endpoints", client_url(i), "--command-timeout", "300ms", "--dial-timeout",
             "300ms", "get", "--print-value-only", key},
            with_api());
    if (value.code == 0) return value.out;
  }
  return "";
}

void RealEtcd::control(const std::vector<std::string>& words, const std::string& input) const {
  std::string all;
  for (int i = 0; i < kMembers; ++i)
    if (answers(i)) all += (all.empty() ? "" : ",") + client_url(i);
  Words command{kEtcdctl, "--endpoints", all};
  command.insert(command.end(), words.begin(), words.end());
  RunOptions options = with_api();
  options.input = input;
  if (const Finished end = run(command, options); end.code != 0)
    throw std::runtime_error("etcdctl: " + end.err);
}

void RealEtcd::compact() const {
  for (int i = 0; i < kMembers; ++i) {
    if (!answers(i)) continue;
    const Finished status =
        run({kEtcdctl, "--endpoints", client_url(i), "get", "x", "-w", "json"}, with_api());
    const std::string name = "\"revision\":";
    const std::size_t at = status.out.find(name);
    if (at == std::string::npos) continue;
    return control({"compact", std::to_string(std::stoll(status.out.substr(at + name.size())))});
  }
}

int RealEtcd::count_keys(const std::string& prefix) const {
  for (int i = 0; i < kMembers; ++i) {
    if (!answers(i)) continue;
    const Finished keys =
        run({kEtcdctl, "--endpoints", client_url(i), "get", "--prefix", "--keys-only", prefix},
            with_api());
    if (keys.code == 0) return count_of(prefix, keys.out);
  }
  return -1;
}

}  // namespace ddprun::test
