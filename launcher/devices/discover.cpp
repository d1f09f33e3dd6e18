#include "launcher/devices/discover.h"

#include <array>
#include <cstdio>
#include <optional>

#include "launcher/devices/gpu_processes.h"
#include "launcher/devices/nvml.h"

namespace ddprun::devices {
namespace {

using Text = std::array<char, kNvmlTextSize>;

void add_failure(NodeGpus& node, const std::string& line) {
  node.remark += (node.remark.empty() ? "" : "; ") + line;
  node.failed = true;
}

std::string pci_address(const NvmlPciInfo& pci) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
  return text;
}

// The first call that fails decides; `code` is what it answered.
std::optional<Gpu> describe(const Nvml& nvml, Nvml::Device device, int index, int& code) {
  Gpu gpu;
  gpu.index = index;
  Text text{};
  code = nvml.device_uuid(device, text.data(), kNvmlTextSize);
  if (code != kNvmlSuccess) return std::nullopt;
  gpu.uuid = text.data();
  code = nvml.device_name(device, text.data(), kNvmlTextSize);
  if (code != kNvmlSuccess) return std::nullopt;
  gpu.name = text.data();
  return gpu;
}

bool is_divided(const Nvml& nvml, Nvml::Device device) {
  unsigned current = 0;
  unsigned pending = 0;
  return nvml.mig_mode != nullptr && nvml.mig_mode(device, &current, &pending) == kNvmlSuccess &&
         current == 1;
}

// The slots of a divided GPU may have holes, so a slot without a device is no failure.
void add_mig_devices(const Nvml& nvml, Nvml::Device parent, const Gpu& gpu, NodeGpus& node) {
  unsigned slots = 0;
  if (nvml.max_mig_devices(parent, &slots) != kNvmlSuccess) return;
  for (unsigned slot = 0; slot < slots; ++slot) {
    Nvml::Device part = nullptr;
    if (nvml.mig_device_by_index(parent, slot, &part) != kNvmlSuccess) continue;
    int code = kNvmlSuccess;
    if (std::optional<Gpu> found = describe(nvml, part, gpu.index, code)) {
      found->pci_address = gpu.pci_address;
      found->processes = processes_on(nvml, part);
      node.mig_devices.push_back(std::move(*found));
    }
  }
}

void add_gpu(const Nvml& nvml, unsigned index, NodeGpus& node) {
  Nvml::Device device = nullptr;
  NvmlPciInfo pci{};
  std::optional<Gpu> gpu;
  int code = nvml.device_by_index(index, &device);
  if (code == kNvmlSuccess) gpu = describe(nvml, device, static_cast<int>(index), code);
  if (code == kNvmlSuccess) code = nvml.device_pci(device, &pci);
  if (code != kNvmlSuccess) {
    add_failure(node, "GPU " + std::to_string(index) + " does not answer: " + nvml.text_of(code));
    return;
  }
  gpu->pci_address = pci_address(pci);
  gpu->divided = is_divided(nvml, device);
  if (gpu->divided)
    add_mig_devices(nvml, device, *gpu, node);
  else
    gpu->processes = processes_on(nvml, device);
  node.gpus.push_back(std::move(*gpu));
}

void ask(const Nvml& nvml, NodeGpus& node) {
  unsigned count = 0;
  const int code = nvml.device_count(&count);
  if (code != kNvmlSuccess) {
    add_failure(node, "the NVIDIA driver does not count its GPUs: " + nvml.text_of(code));
    return;
  }
  for (unsigned index = 0; index < count; ++index) add_gpu(nvml, index, node);
  if (count == 0) node.remark = "the NVIDIA driver has no GPU";
  if (!node.gpus.empty()) node.source = Source::nvml;
}

}  // namespace

NodeGpus discover(const std::string& library) {
  NodeGpus node;
  const Result<Nvml> nvml = load_nvml(library);
  if (!nvml) {
    node.remark = "no NVIDIA driver: " + nvml.error().text;
    node.failed = library != kNvmlLibrary;  // whoever names a library expects it to be there
    return node;
  }
  const int code = nvml->init();
  if (code != kNvmlSuccess) {
    add_failure(node, "the NVIDIA driver does not start: " + nvml->text_of(code));
    return node;
  }
  ask(*nvml, node);
  nvml->shutdown();
  return node;
}

NodeGpus simulate(int count) {
  NodeGpus node;
  node.source = Source::simulated;
  for (int index = 0; index < count; ++index) node.gpus.push_back({index, "", "", "simulated GPU"});
  if (count == 0) node.remark = "no GPU is simulated";
  return node;
}

}  // namespace ddprun::devices
