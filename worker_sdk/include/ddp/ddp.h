// The whole worker SDK: everything a training program needs besides LibTorch itself.
//
// One header each: process groups, collectives, the device of this worker,
// DistributedDataParallel, DistributedSampler, checkpoints, optimizers, what the launcher wants to
// know, and what does without a launcher: spawn, data_parallel and the pieces written by hand. All
// of it is in namespace ddp.
#pragma once

#include "ddp/checkpoint.h"
#include "ddp/collectives.h"
#include "ddp/comm_hook.h"
#include "ddp/data_parallel.h"
#include "ddp/device.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/distributed_sampler.h"
#include "ddp/environment.h"
#include "ddp/error.h"
#include "ddp/functional.h"
#include "ddp/future.h"
#include "ddp/join.h"
#include "ddp/optim.h"
#include "ddp/process_group.h"
#include "ddp/progress.h"
#include "ddp/record.h"
#include "ddp/reduce_op.h"
#include "ddp/spawn.h"
#include "ddp/sync_batch_norm.h"
#include "ddp/value.h"
#include "ddp/work.h"
