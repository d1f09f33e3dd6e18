// Whether this ddprun hosts the server of its run, and on which address.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ddprun::membership {

// What is known before anybody has listened or connected.
struct HostingQuestion {
  bool fixed = false;                        // static: node 0 hosts
  int node_rank = 0;                         // with `fixed`
  std::optional<bool> is_host;               // --rdzv-conf is_host
  std::string host;                          // of the endpoint, as given
  std::vector<std::string> addresses;        // literals that it stands for
  std::vector<std::string> local_addresses;  // of this machine's interfaces, loopback included
};

struct Hosting {
  bool listen = false;
  // Somebody else may host: another agent on this host, or rdzvd.
  bool may_be_taken = false;
  // The other nodes count on this one, by static node rank 0 or is_host.
  bool expected = false;
  // The endpoint is no address of this host, and may lead to it all the same: an rdzvd there goes
  // before listening, and who hosts is known when it answers, or when other nodes come to this one.
  bool undecided = false;
  std::string address;          // to listen on; empty: all
  std::string connect_to = {};  // where this ddprun reaches its own server
  std::string notice = {};      // for the user; empty: nothing to say
};

// This node does not host, whatever the endpoint's addresses are. Pure.
bool never_hosts(const HostingQuestion& question);

// Pure. An address literal is bound exactly. A name that stands for loopback on its own host (a
// usual line in /etc/hosts) is no wish for loopback, but "localhost" is one.
Hosting decide_hosting(const HostingQuestion& question);

// "127.0.0.1", "::1": what no other host can reach. Of a literal.
bool is_loopback(const std::string& address);

}  // namespace ddprun::membership
