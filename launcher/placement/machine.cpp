#include "launcher/placement/machine.h"

#include <charconv>

#include "launcher/placement/hwloc_module.h"
#include "rendezvous/base/module.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::placement {
namespace {

void add_cpu(void* topology, const Cpu* cpu) {
  static_cast<Topology*>(topology)->cpus.push_back(*cpu);
}

}  // namespace

Result<Topology> read_topology(const std::string& module_file) {
  const auto module = Module::open(kModuleFile, module_file);
  if (!module) return module.error();
  const auto function = module->find(kReadTopology);
  if (!function) return function.error();
  auto* read = reinterpret_cast<ReadTopology*>(*function);
  Topology topology;
  int this_machine = 1;
  if (const char* failure = read(add_cpu, &topology, &this_machine)) return Error{failure};
  topology.this_machine = this_machine != 0;
  return topology;
}

std::optional<int> node_of_device(const std::string& pci_address, const std::string& sysfs) {
  const auto text = read_file(sysfs + "/bus/pci/devices/" + pci_address + "/numa_node");
  if (!text) return std::nullopt;
  int node = -1;
  std::from_chars(text->data(), text->data() + text->size(), node);
  if (node < 0) return std::nullopt;
  return node;
}

}  // namespace ddprun::placement
