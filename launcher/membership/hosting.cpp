#include "launcher/membership/hosting.h"

#include <algorithm>

namespace ddprun::membership {
namespace {

using Addresses = std::vector<std::string>;

constexpr const char* kOnAllAddresses = ", so the rendezvous listens on all addresses";

bool contains(const Addresses& addresses, const std::string& address) {
  return std::ranges::find(addresses, address) != addresses.end();
}

bool is_expected(const HostingQuestion& question) {
  return question.is_host.value_or(question.fixed && question.node_rank == 0);
}

bool is_local(const std::string& address, const HostingQuestion& question) {
  return is_loopback(address) || contains(question.local_addresses, address);
}

std::string loopback_for(const Addresses& addresses) {
  const bool v6_only =
      !addresses.empty() && std::ranges::all_of(addresses, [](const std::string& address) {
        return address.find(':') != std::string::npos;
      });
  return v6_only ? "::1" : "127.0.0.1";
}

Hosting everywhere(const HostingQuestion& question, const std::string& notice) {
  return {.listen = true,
          .address = "",
          .connect_to = loopback_for(question.addresses),
          .notice = notice};
}

// A load balancer or a translated address may lead to this host; or another host has an rdzvd.
Hosting at_foreign_address(const HostingQuestion& question) {
  const std::string why = "'" + question.host + "' is no address of this host";
  if (question.is_host) return everywhere(question, why + kOnAllAddresses);
  Hosting hosting = everywhere(question, why +
                                             ": an rdzvd there is joined; in case that it leads to "
                                             "this node, it listens on all addresses");
  hosting.undecided = true;
  return hosting;
}

Hosting listen_on(const Addresses& local, const HostingQuestion& question) {
  const bool name = question.addresses.size() > 1 || question.addresses.front() != question.host;
  const bool wants_loopback = !name || question.host == "localhost";
  if (!wants_loopback && std::ranges::all_of(local, is_loopback))
    return everywhere(question, "'" + question.host + "' is " + local.front() + " on this host" +
                                    kOnAllAddresses);
  // All of its addresses: others may see only some of them.
  if (local.size() > 1)
    return {.listen = true,
            .address = question.host == "localhost" ? local.front() : "",
            .connect_to = local.front()};
  return {.listen = true, .address = local.front(), .connect_to = local.front()};
}

}  // namespace

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

bool never_hosts(const HostingQuestion& question) {
  return question.is_host == false || (question.fixed && !is_expected(question));
}

Hosting decide_hosting(const HostingQuestion& question) {
  if (never_hosts(question)) return {};
  const bool expected = is_expected(question);
  Addresses local;
  std::ranges::copy_if(question.addresses, std::back_inserter(local),
                       [&](const std::string& each) { return is_local(each, question); });
  if (local.empty() && !expected) return {};
  Hosting hosting = local.empty() ? at_foreign_address(question) : listen_on(local, question);
  hosting.expected = expected;
  hosting.may_be_taken = question.is_host != true;
  return hosting;
}

}  // namespace ddprun::membership
