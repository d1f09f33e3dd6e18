// What the launcher told this worker, readable before init_process_group and without LibTorch.
//
// Each function reads the environment at every call. A variable that is not set gives the value of
// a program that runs alone; text that is not a number throws ddp::Error.
#pragma once

#include <string>

#include "ddp/export.h"

namespace ddp {

// Index of this process among those of its node, from 0 (LOCAL_RANK, else 0).
DDP_API int local_rank();

// Number of processes on this node (LOCAL_WORLD_SIZE, else 1).
DDP_API int local_world_size();

// Index of this node, from 0 (GROUP_RANK, else 0).
DDP_API int node_rank();

// How often the launcher has restarted the job so far (TORCHELASTIC_RESTART_COUNT, else 0).
DDP_API int restart_count();

// Name of the job, the same on all ranks (TORCHELASTIC_RUN_ID, else empty).
DDP_API std::string run_id();

}  // namespace ddp
