// A stand-in for the NVIDIA driver's management library:
// DDPRUN_NVML=build/tests/libddprun_nvml_stub.so makes ddprun see the GPUs that these variables
// describe. Read at nvmlInit_v2.
//
//   NVML_STUB_GPUS=8            number of GPUs; unset or empty: 0
//   NVML_STUB_NAMES=A,B         their names, the last one for all others; default: NVIDIA H200
//   NVML_STUB_MIG=0:3,2:1       GPU 0 is divided into 3 parts, GPU 2 into 1, with holes
//   NVML_STUB_FAIL=init         what fails: init, count, uuid, or handle:3 (GPU 3 only)
//   NVML_STUB_BUSY=3:4711:70    process 4711 holds 70 GiB of GPU 3; several by commas; with no
//   third
//                               number the driver cannot tell how much
//   NVML_STUB_TRACE=FILE        gets a line for each "load", "init" and "shutdown"
//
// GPU k has the UUID GPU-aK000000-1111-2222-3333-444444444444 with K = k in hexadecimal (k below
// 16), and PCI address 0000:KK:00.0 with KK = k + 16 in hexadecimal. Part p of it has the UUID
// MIG-bK0p0000-1111-2222-3333-444444444444.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;
constexpr int kGpuIsLost = 15;
constexpr int kUnknown = 999;
constexpr unsigned kSlots = 7;

struct Device {
  unsigned gpu = 0;
  int part = -1;  // of a divided GPU; -1: the whole
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

struct Pci {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

struct State {
  unsigned gpus = 0;
  std::vector<std::string> names;
  std::vector<unsigned> parts;  // by GPU
  std::string fail;
  std::vector<Device> devices;  // a handle is an index into it, plus one
};
State state;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void trace(const char* event) {
  const std::string path = variable("NVML_STUB_TRACE");
  if (path.empty()) return;
  if (std::FILE* file = std::fopen(path.c_str(), "a")) {
    std::fprintf(file, "%s\n", event);
    std::fclose(file);
  }
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void* handle_of(Device device) {
  state.devices.push_back(device);
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(state.devices.size()));
}

const Device& device_of(void* handle) {
  return state.devices.at(reinterpret_cast<std::uintptr_t>(handle) - 1);
}

int copy(const std::string& text, char* target, unsigned size) {
  if (text.size() >= size) return kInvalidArgument;
  std::memcpy(target, text.c_str(), text.size() + 1);
  return kSuccess;
}

[[gnu::constructor]] void loaded() {
  trace("load");
}

}  // namespace

EXPORT int nvmlInit_v2() {
  trace("init");
  state = State{};
  state.fail = variable("NVML_STUB_FAIL");
  if (state.fail == "init") return kDriverNotLoaded;
  state.gpus = static_cast<unsigned>(std::atoi(variable("NVML_STUB_GPUS").c_str()));
  state.names = split(variable("NVML_STUB_NAMES"));
  state.parts.resize(state.gpus);
  for (const std::string& entry : split(variable("NVML_STUB_MIG"))) {
    const auto gpu = static_cast<unsigned>(std::atoi(entry.c_str()));
    if (gpu < state.gpus)
      state.parts[gpu] =
          static_cast<unsigned>(std::atoi(entry.substr(entry.find(':') + 1).c_str()));
  }
  return kSuccess;
}

EXPORT int nvmlShutdown() {
  trace("shutdown");
  return kSuccess;
}

EXPORT const char* nvmlErrorString(int code) {
  switch (code) {
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    case kGpuIsLost:
      return "GPU is lost";
    case kNotFound:
      return "Not Found";
    default:
      return "Unknown Error";
  }
}

EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = state.gpus;
  return state.fail == "count" ? kUnknown : kSuccess;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  if (index >= state.gpus) return kInvalidArgument;
  if (state.fail == "handle:" + std::to_string(index)) return kGpuIsLost;
  *handle = handle_of({index, -1});
  return kSuccess;
}

EXPORT int nvmlDeviceGetUUID(void* handle, char* text, unsigned size) {
  if (state.fail == "uuid") return kUnknown;
  const Device& device = device_of(handle);
  char uuid[64];
  if (device.part < 0)
    std::snprintf(uuid, sizeof uuid, "GPU-a%x000000", device.gpu);
  else
    std::snprintf(uuid, sizeof uuid, "MIG-b%x0%x0000", device.gpu,
                  static_cast<unsigned>(device.part));
  return copy(std::string(uuid) + "-1111-2222-3333-444444444444", text, size);
}

EXPORT int nvmlDeviceGetName(void* handle, char* text, unsigned size) {
  const Device& device = device_of(handle);
  std::string name = "NVIDIA H200";
  if (!state.names.empty())
    name = device.gpu < state.names.size() ? state.names[device.gpu] : state.names.back();
  return copy(device.part < 0 ? name : name + " MIG 1g.18gb", text, size);
}

EXPORT int nvmlDeviceGetPciInfo_v3(void* handle, Pci* pci) {
  *pci = Pci{};
  pci->bus = device_of(handle).gpu + 16;
  return kSuccess;
}

EXPORT int nvmlDeviceGetMigMode(void* handle, unsigned* current, unsigned* pending) {
  *current = *pending = state.parts[device_of(handle).gpu] > 0 ? 1 : 0;
  return kSuccess;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = kSlots;
  return kSuccess;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(void* parent, unsigned slot, void** handle) {
  const unsigned gpu = device_of(parent).gpu;
  if (slot % 2 != 0 || slot / 2 >= state.parts[gpu]) return kNotFound;
  *handle = handle_of({gpu, static_cast<int>(slot / 2)});
  return kSuccess;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count,
                                                   ProcessInfo* infos) {
  std::vector<ProcessInfo> found;
  for (const std::string& entry : split(variable("NVML_STUB_BUSY"))) {
    unsigned gpu = 0;
    ProcessInfo info{};
    unsigned long long gibibytes = 0;
    const int read = std::sscanf(entry.c_str(), "%u:%u:%llu", &gpu, &info.pid, &gibibytes);
    info.used_memory = read == 3 ? gibibytes << 30 : ~0ULL;
    if (read >= 2 && gpu == device_of(handle).gpu) found.push_back(info);
  }
  const bool fits = found.size() <= *count;
  *count = static_cast<unsigned>(found.size());
  if (!fits) return kInsufficientSize;
  std::copy(found.begin(), found.end(), infos);
  return kSuccess;
}
