#include "launcher/placement/bindings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace ddprun::placement {
namespace {

using cli::BindMode;

// CPUs that belong together: the threads of a core, or all below one cache.
using Group = std::vector<Cpu>;

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// In the order of the first CPU of each.
std::vector<Group> grouped(const std::vector<Cpu>& cpus, int Cpu::*key) {
  std::vector<Group> groups;
  std::map<int, std::size_t> position;
  for (const Cpu& cpu : cpus) {
    const auto [found, is_new] = position.emplace(cpu.*key, groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(cpu);
  }
  return groups;
}

Binding binding_of(const std::vector<Cpu>& cpus, std::string reason) {
  Binding binding;
  std::set<int> nodes;
  for (const Cpu& cpu : cpus) {
    binding.cpus.push_back(cpu.id);
    nodes.insert(cpu.node);
  }
  std::ranges::sort(binding.cpus);
  binding.nodes.assign(nodes.begin(), nodes.end());
  binding.reason = std::move(reason);
  return binding;
}

Binding unbound(std::string reason) {
  return {.reason = std::move(reason), .as_asked = false};
}

// Share `index` of `count` equal ones; the first ones are larger by one where it does not come out
// even. With fewer groups than shares each share is one group, used by several.
std::vector<Cpu> share_of(const std::vector<Group>& groups, std::size_t index, std::size_t count) {
  std::size_t begin = index * groups.size() / count;
  std::size_t end = begin + 1;
  if (groups.size() >= count) {
    const std::size_t size = groups.size() / count;
    const std::size_t larger = groups.size() % count;
    begin = index * size + std::min(index, larger);
    end = begin + size + (index < larger ? 1 : 0);
  }
  std::vector<Cpu> cpus;
  for (std::size_t i = begin; i < end; ++i)
    cpus.insert(cpus.end(), groups[i].begin(), groups[i].end());
  return cpus;
}

// `where` names what is shared out: "NUMA node 1", "this process".
Binding share_of_cores(const std::vector<Cpu>& cpus, std::size_t index, std::size_t count,
                       const std::string& where) {
  const std::vector<Group> cores = grouped(cpus, &Cpu::core);
  std::string what = plural(cores.size(), "core") + " of " + where;
  if (cores.size() < count) {
    Binding binding =
        binding_of(share_of(cores, index, count), plural(count, "worker") + " share the " + what +
                                                      ", so some run on the same core");
    binding.as_asked = false;
    return binding;
  }
  return binding_of(share_of(cores, index, count), "an equal share of the " + std::move(what));
}

class Binder {
 public:
  Binder(const Topology& topology, const std::vector<Seat>& seats, const CpuList& allowed)
      : seats_(seats) {
    std::set<int> nodes;
    for (const Cpu& cpu : topology.cpus) {
      nodes.insert(cpu.node);
      if (std::ranges::binary_search(allowed, cpu.id)) cpus_.push_back(cpu);
    }
    if (nodes.size() == 1) only_node_ = *nodes.begin();
    number_of_nodes_ = nodes.size();
  }

  std::size_t number_of_nodes() const { return number_of_nodes_; }

  bool nothing_allowed() const { return cpus_.empty(); }

  Binding cores(std::size_t index) const {
    return share_of_cores(cpus_, index, seats_.size(), "this process");
  }

  Binding near_gpu(std::size_t index, BindMode mode) const {
    const std::string& address = seats_[index].pci_address;
    if (address.empty()) return unbound("there is no GPU whose NUMA node could be asked for");
    const auto node = node_of(seats_[index]);
    if (!node) return unbound("the kernel does not say which NUMA node GPU " + address + " is at");
    const std::string where = "NUMA node " + std::to_string(*node);
    const std::vector<Cpu> cpus = on_node(*node);
    if (cpus.empty())
      return unbound("none of the CPUs of " + where + ", where GPU " + address +
                     " is, may be used by this process");
    switch (mode) {
      case BindMode::socket:
        return socket(cpus);
      case BindMode::exclusive:
        return share_of_cores(cpus, position(index, *node), workers_at(*node), where);
      case BindMode::core_complex:
        return cache(cpus, position(index, *node), where);
      default:
        return binding_of(cpus, where + ", where its GPU is");
    }
  }

 private:
  // A machine with one node often does not number it for its devices.
  std::optional<int> node_of(const Seat& seat) const {
    return seat.gpu_node ? seat.gpu_node : only_node_;
  }

  std::vector<Cpu> on_node(int node) const {
    std::vector<Cpu> found;
    std::ranges::copy_if(cpus_, std::back_inserter(found),
                         [&](const Cpu& cpu) { return cpu.node == node; });
    return found;
  }

  bool sits_at(const Seat& seat, int node) const {
    return !seat.pci_address.empty() && node_of(seat) == node;
  }

  std::size_t workers_at(int node) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(seats_, [&](const Seat& seat) { return sits_at(seat, node); }));
  }

  // How many workers at this node come before it.
  std::size_t position(std::size_t index, int node) const {
    const auto end = seats_.begin() + static_cast<std::ptrdiff_t>(index);
    return static_cast<std::size_t>(
        std::count_if(seats_.begin(), end, [&](const Seat& seat) { return sits_at(seat, node); }));
  }

  static int package_of(const std::vector<Cpu>& node) {
    return std::ranges::min_element(node, {}, &Cpu::id)->package;
  }

  // Whole nodes, so that a node that reaches over two sockets is not cut.
  Binding socket(const std::vector<Cpu>& node) const {
    const int package = package_of(node);
    std::vector<Cpu> cpus;
    for (const Group& other : grouped(cpus_, &Cpu::node))
      if (package_of(other) == package) cpus.insert(cpus.end(), other.begin(), other.end());
    return binding_of(cpus, "the socket of NUMA node " + std::to_string(node.front().node) +
                                ", where its GPU is");
  }

  static Binding cache(const std::vector<Cpu>& node, std::size_t turn, const std::string& where) {
    std::vector<Group> caches = grouped(node, &Cpu::cache);
    std::ranges::stable_sort(caches, std::ranges::greater{}, &Group::size);
    return binding_of(
        caches[turn % caches.size()],
        "one last-level cache of the " + std::to_string(caches.size()) + " of " + where);
  }

  const std::vector<Seat>& seats_;
  std::vector<Cpu> cpus_;  // only those allowed
  std::optional<int> only_node_;
  std::size_t number_of_nodes_ = 0;
};

}  // namespace

std::vector<Binding> bindings(const Topology& topology, const std::vector<Seat>& seats,
                              BindMode mode, const CpuList& allowed) {
  std::vector<Binding> result(seats.size());
  if (mode == BindMode::none) return result;
  const Binder binder(topology, seats, allowed);
  const bool without_gpus =
      std::ranges::all_of(seats, [](const Seat& seat) { return seat.pci_address.empty(); });
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (binder.nothing_allowed())
      result[i] = unbound("the topology has none of the CPUs that this process may use (" +
                          range_text(allowed) + ")");
    else if (mode == BindMode::cores || without_gpus)
      result[i] = binder.cores(i);
    else
      result[i] = binder.near_gpu(i, mode);
    result[i].all_nodes = result[i].nodes.size() == binder.number_of_nodes();
  }
  return result;
}

std::vector<int> cpu_shares(const std::vector<Binding>& bindings) {
  std::map<int, int> users;
  for (const Binding& binding : bindings)
    for (const int cpu : binding.cpus) ++users[cpu];
  std::vector<int> shares;
  for (const Binding& binding : bindings) {
    double share = 1e-6;  // three thirds are one
    for (const int cpu : binding.cpus) share += 1.0 / users[cpu];
    shares.push_back(binding.cpus.empty() ? 0 : std::max(1, static_cast<int>(share)));
  }
  return shares;
}

const char* name_of(BindMode mode) {
  switch (mode) {
    case BindMode::none:
      return "none";
    case BindMode::node:
      return "node";
    case BindMode::socket:
      return "socket";
    case BindMode::exclusive:
      return "exclusive";
    case BindMode::core_complex:
      return "core-complex";
    case BindMode::cores:
      return "cores";
  }
  return "?";
}

}  // namespace ddprun::placement
