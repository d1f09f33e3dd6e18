// What CUDA_VISIBLE_DEVICES leaves visible, by the driver's own rules.
#pragma once

#include <optional>
#include <string>

#include "launcher/devices/devices.h"

namespace ddprun::devices {

// CUDA_DEVICE_ORDER: what the numbers of the list count. The driver's default is by speed, which on
// a node whose GPUs are all the same is the order of the PCI addresses too.
enum class DeviceOrder { fastest_first, pci_bus_id };

// Whether a worker sees the whole list, or is given a list of one entry (--virtual-local-rank).
enum class ListFor { each_process, one_entry_each };

// Pure. `list` is the variable's text, none where it is unset:
//   unset               every GPU
//   empty               none
//   1,2 or 1gpu2, 2     numbers, read up to their first other character
//   GPU-ab,GPU-cd       beginnings of UUIDs, each of which must fit one GPU only
//   MIG-…               a part of a divided GPU; the driver shows a process the first of them only,
//                       so all of them can be used where each worker is given its own
// The list ends silently at the first entry that is none of these or names no device; a device that
// is there twice makes the driver show none at all. `warnings` says so in words. Counterpart:
// torch.cuda._parse_visible_devices and _transform_uuid_to_ordinals.
VisibleGpus visible(const std::optional<std::string>& list, const NodeGpus& node,
                    DeviceOrder order = DeviceOrder::fastest_first,
                    ListFor list_for = ListFor::each_process);

}  // namespace ddprun::devices
