// Which GPUs this node has and which of them the job may see.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace ddprun::devices {

// Somebody who computes on a GPU before the job has begun.
struct GpuProcess {
  pid_t pid = 0;
  std::optional<unsigned long long> memory;  // bytes of the GPU; none: the driver does not say
  std::string command;  // its command line; empty where the process cannot be seen from here
  std::string user;     // its owner; empty likewise
  bool orphan = false;  // whoever started it has ended
};

// One GPU of the node, or one part of a GPU that is divided (a MIG device).
struct Gpu {
  int index = 0;            // the driver's number, of the whole GPU: the "GPU id" shown to the user
  std::string uuid;         // "GPU-…" or "MIG-…"; empty when simulated
  std::string pci_address;  // "0000:3b:00.0"; empty when simulated
  std::string name;         // "NVIDIA H200", or "simulated GPU"
  bool divided = false;     // MIG mode is on
  // Without this process and those that it descends from.
  std::vector<GpuProcess> processes = {};
};

// Where the list of GPUs comes from.
enum class Source { nvml, simulated, none };

// What discovery found. `remark` says why there is no GPU, or what could not be asked; empty when
// all went well.
struct NodeGpus {
  Source source = Source::none;
  std::vector<Gpu> gpus;  // in the driver's order, which is that of the PCI addresses
  std::string remark;
  bool failed = false;  // something that is there did not answer, so the remark must be told
  std::vector<Gpu> mig_devices;  // the parts of divided GPUs
};

// The GPUs that CUDA_VISIBLE_DEVICES leaves visible, in the order of that list: entry r is cuda:r.
struct VisibleGpus {
  std::vector<Gpu> gpus;
  // For each of `gpus` the text that names it alone: its entry as the user wrote it, or its number
  // where there is no list.
  std::vector<std::string> entries;
  // The variable's text as it was found; `list_given` tells an empty list from none.
  bool list_given = false;
  std::string list_text;
  // The list is there to hide every GPU: it is empty, `-1` as programs on the CPU are often
  // started, or a scheduler's `NoDevFiles`. A list that shows nothing because of a slip (`99`,
  // `0,0`, `-2`) is not of this kind.
  bool hides_all = false;
  // One line for each thing the driver would do without a word: a list cut at a bad entry, a device
  // named twice.
  std::vector<std::string> warnings;
};

}  // namespace ddprun::devices
