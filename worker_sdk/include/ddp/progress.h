// Tells the launcher that this rank gets on, so that it can end a job that hangs.
#pragma once

#include <cstdint>

#include "ddp/export.h"

namespace ddp {

// This rank has reached step `step`; call it once for each batch. Under `ddprun
// --progress-timeout` a rank that is silent for too long is named and the job ended; otherwise this
// costs one branch. Never blocks, never fails: a launcher that does not read, or is gone, is none
// of the program's business. Any thread may call it.
//
// Where somebody listens (DDPRUN_PROGRESS_FD), the first call makes the process ignore SIGPIPE, as
// init_process_group does, unless the program handles it.
DDP_API void progress(std::int64_t step);

}  // namespace ddp
