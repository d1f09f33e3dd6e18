#include "launcher/placement/machine.h"

#include <dlfcn.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <system_error>

#include "launcher/placement/hwloc_module.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::placement {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(void* library) const { dlclose(library); }
};

std::string linker_message() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

// In the build tree, and installed.
std::string beside_this_program(std::string& looked_in) {
  std::error_code unknown;
  const fs::path folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const char* below : {".", "../lib", "../lib/ddprun"}) {
    const fs::path path = (folder / below / kModuleFile).lexically_normal();
    if (::access(path.c_str(), R_OK) == 0) return path;
    looked_in += (looked_in.empty() ? "" : ", ") + path.parent_path().string();
  }
  return {};
}

void add_cpu(void* topology, const Cpu* cpu) {
  static_cast<Topology*>(topology)->cpus.push_back(*cpu);
}

}  // namespace

Result<Topology> read_topology(const std::string& module_file) {
  std::string looked_in;
  const std::string path = module_file.empty() ? beside_this_program(looked_in) : module_file;
  if (path.empty())
    return Error{"its module " + std::string(kModuleFile) + " is not installed (looked in " +
                 looked_in + ")"};
  const std::unique_ptr<void, Close> library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) return Error{"its module cannot be loaded: " + linker_message()};
  auto* read = reinterpret_cast<ReadTopology*>(dlsym(library.get(), kReadTopology));
  if (read == nullptr) return Error{"its module is of another version: " + linker_message()};
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
