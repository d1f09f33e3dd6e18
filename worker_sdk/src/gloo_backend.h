// Gloo behind c10d's Backend interface, with errors that say the rank.
#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace ddp::detail {

// Meets the other ranks through `store` and connects to each of them; throws what c10d throws if
// they do not come. Failed operations of the backend throw ddp::Error with `global_rank`, also
// through their futures, which is how an error leaves loss.backward().
c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                                    int rank, int size, int global_rank,
                                                    std::chrono::milliseconds timeout);

// What a failed operation of Gloo says, for people. Where another rank is gone, this waits a little
// first, once, until the launcher has heard of that one.
std::string explain_lost_or_late(const std::string& reason);

}  // namespace ddp::detail
