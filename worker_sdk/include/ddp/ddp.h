// The whole worker SDK: everything a training program needs besides LibTorch itself.
//
// One header each: process groups, collectives, the device of this worker,
// DistributedDataParallel and DistributedSampler. All of it is in namespace ddp.
#pragma once

#include "ddp/collectives.h"
#include "ddp/device.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/distributed_sampler.h"
#include "ddp/environment.h"
#include "ddp/error.h"
#include "ddp/process_group.h"
