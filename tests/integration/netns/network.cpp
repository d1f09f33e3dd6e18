#include "tests/integration/netns/network.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::test {
namespace {

constexpr const char* kNsenter = "/usr/bin/nsenter";

// Tells through `ready` what failed (an errno; 0: nothing) and waits until it is killed.
[[noreturn]] void hold_namespaces(const std::string& hostname, int ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool made = ::unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS) == 0 &&
                    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    ::sethostname(hostname.data(), hostname.size()) == 0;
  const int failed = made ? 0 : errno;
  if (::write(ready, &failed, sizeof failed) != sizeof failed || failed != 0) ::_exit(1);
  for (;;) ::pause();
}

}  // namespace

NamespaceHolder::NamespaceHolder(const std::string& hostname) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  pid_ = ::fork();
  if (pid_ == 0) hold_namespaces(hostname, write_end.get());
  write_end.reset();
  int failed = EIO;
  if (::read(read_end.get(), &failed, sizeof failed) == sizeof failed && failed == 0) return;
  ::waitpid(pid_, nullptr, 0);
  throw std::runtime_error(std::string("unshare: ") + std::strerror(failed));
}

NamespaceHolder::~NamespaceHolder() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Words NamespaceHolder::inside(const Words& command) const {
  Words words{kNsenter, "--target", std::to_string(pid_), "--net", "--uts", "--mount", "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

void NamespaceHolder::run_inside(const std::string& line) const {
  const Finished end = run(inside({"/bin/sh", "-c", line}));
  if (end.code != 0) throw std::runtime_error(line + ": " + end.err);
}

Host::Host(const NamespaceHolder& bridge, int number, Family family)
    : bridge_(&bridge),
      name_("netns" + std::to_string(number)),
      address_((family == Family::ipv4 ? "10.77.0." : "fd77::") + std::to_string(number)),
      cable_("cable" + std::to_string(number)),
      inside_(name_) {
  bridge.run_inside("ip link add " + cable_ + " type veth peer name eth0 netns " +
                    std::to_string(inside_.pid()));
  bridge.run_inside("ip link set " + cable_ + " master bridge0 up");
  inside_.run_inside("ip link set lo up");
  // Without nodad an IPv6 address would be of no use for a second.
  inside_.run_inside("ip addr add " + address_ +
                     (family == Family::ipv4 ? "/24 dev eth0" : "/64 dev eth0 nodad"));
  inside_.run_inside("ip link set eth0 up");
}

std::string Host::endpoint(const std::string& port) const {
  return (address_.find(':') == std::string::npos ? address_ : "[" + address_ + "]") + ":" + port;
}

std::unique_ptr<Program> Host::start(const Words& command, RunOptions options) const {
  return std::make_unique<Program>(inside_.inside(command), std::move(options));
}

void Host::set_hosts_file(const std::string& path) {
  inside_.run_inside("mount --bind '" + path + "' /etc/hosts");
}

void Host::silence() {
  bridge_->run_inside("ip link set " + cable_ + " down");
}

void Host::heal() {
  bridge_->run_inside("ip link set " + cable_ + " up");
}

void Host::blackhole(const Host& to) {
  inside_.run_inside("ip route add blackhole " + to.address() + "/32");
}

void Host::take_in(const std::string& address) {
  inside_.run_inside("ip route add local " + address + "/32 dev lo");
}

void Host::route(const std::string& address, const Host& to) {
  inside_.run_inside("ip route add " + address + "/32 via " + to.address());
}

void Host::remove_routes() {
  inside_.run_inside("ip route flush dev eth0");
}

Network::Network(int hosts, Family family) : bridge_("bridge") {
  bridge_.run_inside("ip link add bridge0 type bridge");
  bridge_.run_inside("ip link set bridge0 up");
  hosts_.reserve(static_cast<std::size_t>(hosts));
  for (int number = 1; number <= hosts; ++number) hosts_.emplace_back(bridge_, number, family);
}

void Network::lead(const std::string& address, int index) {
  for (Host& each : hosts_) {
    if (&each == &host(index))
      each.take_in(address);
    else
      each.route(address, host(index));
  }
}

std::string Network::why_not() {
  try {
    const Network two(2);
    return "";
  } catch (const std::runtime_error& error) {
    return std::string("network namespaces cannot be made here: ") + error.what();
  }
}

}  // namespace ddprun::test
