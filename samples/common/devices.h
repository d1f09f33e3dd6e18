// The devices on which one process computes with several workers.
#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <vector>

namespace samples {

// cuda:0 to cuda:count-1 where there are so many GPUs, else the CPU `count` times; with
// DDPRUN_DEVICE=cpu always that. Call it before anything else of LibTorch, which otherwise does not
// find the GPUs.
std::vector<c10::Device> worker_devices(int count);

// "CPU" or "GPU", for tables: where that many workers compute.
std::string device_kind(int count);

// For ddp::spawn of `count` workers, which else would take cuda:0 to cuda:count-1 wherever there is
// one GPU: with fewer GPUs than workers (DDPRUN_SIMULATED_GPUS counts) all of them have
// DDPRUN_DEVICE=cpu as long as this lives. So they compute where worker_devices(count) says.
class SpawnedDevices {
 public:
  explicit SpawnedDevices(int count);
  ~SpawnedDevices();
  SpawnedDevices(const SpawnedDevices&) = delete;
  SpawnedDevices& operator=(const SpawnedDevices&) = delete;

 private:
  std::optional<std::string> before_;
  bool changed_ = false;
};

}  // namespace samples
