// Hosts that are network namespaces, joined by one bridge: real links, which can be cut.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/support/run.h"

namespace ddprun::test {

using Words = std::vector<std::string>;

// A process that does nothing in network, UTS and mount namespaces of its own. They end with it,
// once no other process is in them; what is inside them goes as well.
class NamespaceHolder {
 public:
  // The namespaces, with this name as their hostname. Throws when they cannot be made.
  explicit NamespaceHolder(const std::string& hostname);
  ~NamespaceHolder();
  NamespaceHolder(NamespaceHolder&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}

  pid_t pid() const { return pid_; }
  // `command` as it is run inside, by its absolute path.
  Words inside(const Words& command) const;
  // Runs this line of a shell inside. Throws, with what it says, when it fails.
  void run_inside(const std::string& line) const;

 private:
  pid_t pid_ = 0;
};

enum class Family { ipv4, ipv6 };

// One host: 10.77.0.N in 10.77.0.0/24, or fd77::N in fd77::/64 with no IPv4 address but that of
// loopback; without any other network.
class Host {
 public:
  // Its interface is `cable` in `network`'s bridge.
  Host(const NamespaceHolder& bridge, int number, Family family);

  const std::string& name() const { return name_; }        // "netns1"
  const std::string& address() const { return address_; }  // "10.77.0.1" or "fd77::1"
  // With a port; an IPv6 address has brackets.
  std::string endpoint(const std::string& port) const;
  // A program that runs there.
  std::unique_ptr<Program> start(const Words& command, RunOptions options = {}) const;

  // Gives it an /etc/hosts of its own, the file at `path`.
  void set_hosts_file(const std::string& path);

  // From now on no packet leaves or reaches it, and nobody is told: the far end of its cable is
  // pulled. What its own processes say to each other goes on.
  void silence();
  // The same by its own routing table: what it sends to `to` vanishes.
  void blackhole(const Host& to);
  // Takes back silence().
  void heal();
  // Packets to `address` are its own, though no interface has it; or they go to `to`.
  void take_in(const std::string& address);
  void route(const std::string& address, const Host& to);
  // Its interface stays up, but no route leads anywhere.
  void remove_routes();

 private:
  const NamespaceHolder* bridge_;
  std::string name_, address_, cable_;
  NamespaceHolder inside_;
};

class Network {
 public:
  // Hosts 1 to `hosts`, all of them reachable from each other.
  explicit Network(int hosts, Family family = Family::ipv4);
  Network(const Network&) = delete;  // the hosts know the bridge

  // From now on `address` leads to the host with this index, none of whose interfaces has it, as
  // behind a load balancer.
  void lead(const std::string& address, int index);
  // Counted from 0: host(0) is netns1.
  Host& host(int index) { return hosts_.at(static_cast<std::size_t>(index)); }
  int size() const { return static_cast<int>(hosts_.size()); }

  // Why there can be none on this machine; empty: there can.
  static std::string why_not();

 private:
  NamespaceHolder bridge_;
  std::vector<Host> hosts_;
};

}  // namespace ddprun::test
