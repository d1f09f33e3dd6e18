#include "launcher/placement/hwloc_module.h"

#include <hwloc.h>

namespace ddprun::placement {
namespace {

int index_of(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t pu, int otherwise) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, pu);
  return found == nullptr ? otherwise : static_cast<int>(found->logical_index);
}

// Nodes without CPUs of their own (high-bandwidth memory) come behind those of the main memory.
int node_of(hwloc_topology_t topology, hwloc_obj_t pu) {
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;)
    if (hwloc_bitmap_isset(node->cpuset, pu->os_index)) return static_cast<int>(node->os_index);
  return 0;
}

// Named by its first CPU.
int last_cache_of(hwloc_obj_t pu) {
  int first = static_cast<int>(pu->os_index);
  for (hwloc_obj_t object = pu->parent; object != nullptr; object = object->parent)
    if (hwloc_obj_type_is_dcache(object->type)) first = hwloc_bitmap_first(object->cpuset);
  return first;
}

const char* load(hwloc_topology_t topology) {
  // x86 would move this thread from CPU to CPU; the others load drivers.
  for (const char* name : {"x86", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"})
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, name);
  return hwloc_topology_load(topology) == 0 ? nullptr : "hwloc cannot read the topology";
}

}  // namespace
}  // namespace ddprun::placement

extern "C" [[gnu::visibility("default")]] const char* ddprun_read_topology_1(
    void (*add)(void* context, const ddprun::placement::Cpu* cpu), void* context,
    int* this_machine) {
  namespace place = ddprun::placement;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return "hwloc cannot start";
  const char* failure = place::load(topology);
  hwloc_obj_t pu = nullptr;
  while (failure == nullptr &&
         (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr) {
    const place::Cpu cpu{
        .id = static_cast<int>(pu->os_index),
        .core = place::index_of(topology, HWLOC_OBJ_CORE, pu, static_cast<int>(pu->logical_index)),
        .package = place::index_of(topology, HWLOC_OBJ_PACKAGE, pu, 0),
        .node = place::node_of(topology, pu),
        .cache = place::last_cache_of(pu)};
    add(context, &cpu);
  }
  *this_machine = failure == nullptr && hwloc_topology_is_thissystem(topology) != 0 ? 1 : 0;
  hwloc_topology_destroy(topology);
  return failure;
}
