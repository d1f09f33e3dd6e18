// What a pickle of weights may call, carried out without Python.
#pragma once

#include <span>
#include <string_view>

#include "worker_sdk/src/checkpoint/pickle.h"

namespace ddp::detail {

// Throws BadFile that names the global if weights have no use for it.
void check_global(std::string_view name);

// The result of the call name(arguments). Throws BadFile.
Node call(const PickleGraph& graph, std::string_view name, std::span<const NodeId> arguments);

// The storage that ('storage', torch.FloatStorage, '0', 'cpu', 12) means. Throws BadFile.
StorageRef storage_of(const PickleGraph& graph, const Node& persistent_id);

}  // namespace ddp::detail
