// The few functions of NVML that discovery uses, bound at run time; neither its header nor its
// library is needed to build.
//
// Types and numbers are those of NVIDIA's nvml.h, which keeps them stable.
#pragma once

#include <memory>
#include <string>

#include "rendezvous/base/result.h"

namespace ddprun::devices {

struct NvmlPciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

struct NvmlProcessInfo {
  unsigned pid;
  unsigned long long used_memory;  // kNvmlUnknown where the driver cannot tell
  unsigned gpu_instance;
  unsigned compute_instance;
};

inline constexpr int kNvmlSuccess = 0;
inline constexpr int kNvmlInsufficientSize = 7;  // the count was set to what is needed
inline constexpr unsigned long long kNvmlUnknown = ~0ULL;
inline constexpr unsigned kNvmlTextSize = 96;  // of a UUID or a name, with its final zero

// A loaded library with its functions. The MIG functions and that for processes are null where the
// driver is too old for them. Every function returns an NVML code, kNvmlSuccess when it worked;
// `Device` is the library's own handle.
struct Nvml {
  using Device = void*;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, Device*) = nullptr;
  int (*device_uuid)(Device, char*, unsigned) = nullptr;
  int (*device_name)(Device, char*, unsigned) = nullptr;
  int (*device_pci)(Device, NvmlPciInfo*) = nullptr;
  int (*mig_mode)(Device, unsigned* current, unsigned* pending) = nullptr;
  int (*max_mig_devices)(Device, unsigned*) = nullptr;
  int (*mig_device_by_index)(Device, unsigned, Device*) = nullptr;
  int (*compute_processes)(Device, unsigned* count, NvmlProcessInfo*) = nullptr;

  struct Close {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Close> library = nullptr;  // unloaded with this object

  // NVML's sentence for `code`.
  std::string text_of(int code) const;
};

// Opens `library` for this process alone (RTLD_LOCAL). The error says what the dynamic linker said.
Result<Nvml> load_nvml(const std::string& library);

}  // namespace ddprun::devices
