#include <algorithm>

#include "launcher/cli/rendezvous_spec.h"
#include "launcher/doctor/findings.h"

namespace ddprun::doctor {
namespace {

constexpr std::chrono::milliseconds kSlowName{1000};

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

// Of a link-local address the interface is named behind it.
bool is_of(const std::string& address, const std::vector<Interface>& interfaces) {
  return is_loopback(address) || std::ranges::any_of(interfaces, [&](const Interface& each) {
           return std::ranges::any_of(each.addresses, [&](const std::string& own) {
             return own.substr(0, own.find('%')) == address.substr(0, address.find('%'));
           });
         });
}

// One node does not need its name, so this stops no job on it.
Finding host(const Facts& facts) {
  const HostName& host = facts.host;
  const char* advice = "several nodes find each other by name: put it into /etc/hosts or DNS";
  if (host.timed_out)
    return {Verdict::warn, "host name", host.name + ": no answer from the name server",
            "programs that look it up will hang; see /etc/resolv.conf"};
  if (host.addresses.empty())
    return {Verdict::warn, "host name", host.name + ": " + host.failure, advice};
  const std::string text = host.name + " is " + joined(host.addresses) + " (" +
                           std::to_string(host.took.count()) + " ms)";
  for (const std::string& address : host.addresses)
    if (!is_of(address, facts.interfaces))
      return {Verdict::warn, "host name", text + ": no interface here has " + address,
              "other nodes will not get here by it; mend /etc/hosts or DNS"};
  if (std::ranges::all_of(host.addresses, is_loopback))
    return {Verdict::warn, "host name", text + ": loopback only",
            "fine on one node; other nodes need --local-addr or a real address"};
  if (host.took >= kSlowName)
    return {Verdict::warn, "host name", text,
            "the name server is slow, and each program asks it; see /etc/resolv.conf"};
  return {Verdict::ok, "host name", text, ""};
}

Finding addresses(const Facts& facts) {
  std::vector<std::string> all;
  for (const Interface& each : facts.interfaces)
    for (const std::string& address : each.addresses)
      if (!address.starts_with("fe80:")) all.push_back(each.name + " " + address);
  for (const std::string& choice : facts.interface_choices) {
    const std::string value = choice.substr(choice.find('=') + 1);
    if (names_no_interface(value, facts.interfaces))
      return {Verdict::problem, "addresses", joined(all) + "; " + choice,
              "no interface that is up has this name; leave the variable out, or name one"};
  }
  if (all.empty()) return {Verdict::warn, "addresses", "none but loopback", "fine on one node"};
  return {Verdict::ok, "addresses", joined(all), ""};
}

Finding endpoint(const Endpoint& found) {
  const std::string name = cli::text_of({found.host.name, found.port});
  if (found.host.timed_out)
    return {Verdict::problem, "endpoint", name + ": no answer from the name server",
            "give an address, or see /etc/resolv.conf"};
  if (found.host.addresses.empty())
    return {Verdict::problem, "endpoint", name + ": " + found.host.failure,
            "is the name right? put it into /etc/hosts or DNS"};
  const std::string text = name + " is " + joined(found.host.addresses);
  if (found.timed_out)
    return {Verdict::problem, "endpoint", text + ": no answer",
            "is that host up, and does a firewall let this port through?"};
  if (!found.failure.empty())
    return {Verdict::warn, "endpoint", text + ": " + found.failure,
            "ddprun of node 0 or rdzvd is to listen there; a node waits for it"};
  return {Verdict::ok, "endpoint", text + ": takes connections", ""};
}

std::string text_of(const Port& port) {
  return std::to_string(port.number) + (port.holder.empty() ? " is free" : ": " + port.holder);
}

// The port of several nodes may be held by the very rdzvd that they are to meet at.
Finding ports(const Facts& facts) {
  if (facts.needed_port && !facts.needed_port->holder.empty())
    return {Verdict::problem, "ports", text_of(*facts.needed_port),
            "stop it, or leave --master-port out: then the system chooses"};
  std::string text;
  bool all_free = true;
  for (const Port& port : facts.ports) {
    text += (text.empty() ? "" : ", ") + text_of(port);
    all_free = all_free && port.holder.empty();
  }
  if (all_free) return {Verdict::ok, "ports", text, ""};
  return {Verdict::warn, "ports", text,
          "fine if it is the rdzvd or ddprun of the job; else give its nodes another port"};
}

Finding loopback(const Facts& facts) {
  if (facts.loopback_failure.empty())
    return {Verdict::ok, "loopback", "127.0.0.1 can be listened on", ""};
  return {Verdict::problem, "loopback", facts.loopback_failure,
          "the workers of a node meet on 127.0.0.1; is the interface lo up?"};
}

Finding firewall(const Facts& facts) {
  if (facts.firewalls.empty())
    return {Verdict::ok, "firewall", facts.is_root ? "none seen" : "none seen (not asked as root)",
            ""};
  return {Verdict::warn, "firewall", joined(facts.firewalls),
          "fine on one node; between nodes all TCP ports must be open"};
}

Finding scheduler(const Facts& facts) {
  return {Verdict::ok, "scheduler", facts.scheduler.empty() ? "none seen" : joined(facts.scheduler),
          ""};
}

Finding settings(const Facts& facts) {
  return {Verdict::ok, "settings",
          facts.environment.empty() ? "none in the environment" : joined(facts.environment), ""};
}

}  // namespace

bool names_no_interface(std::string_view choice, const std::vector<Interface>& interfaces) {
  if (choice.empty() || choice.starts_with('^')) return false;
  const bool whole = choice.starts_with('=');
  choice.remove_prefix(whole ? 1 : 0);
  while (!choice.empty()) {
    const std::string_view name = choice.substr(0, choice.find(','));
    const auto fits = [&](const std::string& own) {
      return whole ? own == name : own.starts_with(name);
    };
    if (fits("lo") || std::ranges::any_of(interfaces, fits, &Interface::name)) return false;
    choice.remove_prefix(std::min(choice.size(), name.size() + 1));
  }
  return true;
}

std::vector<Finding> about_network(const Facts& facts) {
  std::vector<Finding> all{host(facts), addresses(facts)};
  if (facts.endpoint) all.push_back(endpoint(*facts.endpoint));
  for (const auto about : {ports, loopback, firewall, scheduler, settings})
    all.push_back(about(facts));
  return all;
}

}  // namespace ddprun::doctor
