// The key-value store through which the ranks find each other.
#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {

// Connects to MASTER_ADDR:MASTER_PORT, or to the address of init_method; rank 0 hosts the store
// there unless the launcher does. With file:// it is a file. Throws ddp::Error with the address,
// the time waited and the last reason.
c10::intrusive_ptr<c10d::Store> open_store(const WorkerEnvironment& environment,
                                           std::chrono::milliseconds timeout);

// A store in this process on a free port, for processes that it starts. Throws
// ddp::Error.
struct HostedStore {
  c10::intrusive_ptr<c10d::Store> store;  // hosts as long as it lives
  std::uint16_t port = 0;
};
HostedStore host_store();

}  // namespace ddp::detail
