#include "launcher/devices/nvml.h"

#include <dlfcn.h>

namespace ddprun::devices {
namespace {

template <class Function>
bool bind(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

std::string linker_message() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

void Nvml::Close::operator()(void* handle) const {
  dlclose(handle);
}

std::string Nvml::text_of(int code) const {
  const char* text = error_string == nullptr ? nullptr : error_string(code);
  return text == nullptr ? "NVML error " + std::to_string(code) : text;
}

Result<Nvml> load_nvml(const std::string& library) {
  Nvml nvml;
  nvml.library.reset(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  void* handle = nvml.library.get();
  if (handle == nullptr) return Error{linker_message()};
  const bool complete = bind(handle, "nvmlInit_v2", nvml.init) &&
                        bind(handle, "nvmlShutdown", nvml.shutdown) &&
                        bind(handle, "nvmlErrorString", nvml.error_string) &&
                        bind(handle, "nvmlDeviceGetCount_v2", nvml.device_count) &&
                        bind(handle, "nvmlDeviceGetHandleByIndex_v2", nvml.device_by_index) &&
                        bind(handle, "nvmlDeviceGetUUID", nvml.device_uuid) &&
                        bind(handle, "nvmlDeviceGetName", nvml.device_name) &&
                        bind(handle, "nvmlDeviceGetPciInfo_v3", nvml.device_pci);
  if (!complete) return Error{linker_message()};
  const bool has_mig =
      bind(handle, "nvmlDeviceGetMigMode", nvml.mig_mode) &&
      bind(handle, "nvmlDeviceGetMaxMigDeviceCount", nvml.max_mig_devices) &&
      bind(handle, "nvmlDeviceGetMigDeviceHandleByIndex", nvml.mig_device_by_index);
  if (!has_mig) nvml.mig_mode = nullptr;
  // Both fill the same structure.
  if (!bind(handle, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.compute_processes))
    bind(handle, "nvmlDeviceGetComputeRunningProcesses_v2", nvml.compute_processes);
  return nvml;
}

}  // namespace ddprun::devices
