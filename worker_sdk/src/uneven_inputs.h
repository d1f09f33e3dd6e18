// The collectives that join() adds to forward, and those of a rank that has joined. Both sides in
// the order of Python's torch/nn/parallel/distributed.py, so that Python ranks may be among them.
#pragma once

#include "worker_sdk/src/data_parallel_state.h"

namespace ddp::detail {

// Throws ddp::Error for a model or an option for which a rank that has joined cannot stand in.
void check_can_join(const DataParallelState& state);

// Beginning of a forward: this rank still has inputs. Throws ddp::Error if another has not and
// throw_on_early_termination was set.
void notify_join_context(DataParallelState& state);

// End of what comes before the module's forward: whether this rank's backward will synchronize.
void announce_backward_sync(const DataParallelState& state);

// Whether the next forward begins with a broadcast of buffers.
bool syncs_buffers(const DataParallelState& state);

// Whose buffers the others take: rank in the group.
int authoritative_rank(const DataParallelState& state);

// Takes the buffers of rank `root` of the group.
void broadcast_buffers(const DataParallelState& state, int root);

// This rank has no more inputs. Returns when the same is true of all.
void shadow_others(DataParallelState& state);

// Forward becomes as it was before join(), where all ranks are known to do so: Python's do not.
void leave_join_context(DataParallelState& state);

}  // namespace ddp::detail
