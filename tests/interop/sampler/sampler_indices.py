"""Prints, for many settings of Python's DistributedSampler, the settings and a hash of the indices.

sampler_indices_test.cpp makes a ddp::DistributedSampler of each line and compares. The last line is the count.
"""

import torch
from torch.utils.data.distributed import DistributedSampler

SIZES = (1, 2, 5, 10, 17, 100, 1001, 40000)
REPLICAS = (1, 2, 3, 8, 11)
SEEDS = (0, 42, -1, 2**63, 2**64 - 1)
EPOCHS = (0, 3, 2**40)


def fnv1a(numbers):
    value = 1469598103934665603
    for number in numbers:
        value = ((value ^ number) * 1099511628211) % 2**64
    return value


def indices(sampler):
    try:
        return list(sampler)
    except (ValueError, RuntimeError, OverflowError):
        # Python refuses a sum of seed and epoch beyond 64 bits; ddp goes on from zero.
        sampler.seed, sampler.epoch = (sampler.seed + sampler.epoch) % 2**64, 0
        return list(sampler)


def settings():
    for size in SIZES:
        for replicas in REPLICAS:
            for drop_last in (0, 1):
                yield size, replicas, 0, drop_last, 0, 0
                for seed in SEEDS if size < 40000 else SEEDS[-2:]:
                    for epoch in EPOCHS if size < 40000 else EPOCHS[:2]:
                        yield size, replicas, 1, drop_last, seed, epoch


count = 0
for size, replicas, shuffle, drop_last, seed, epoch in settings():
    for rank in range(replicas):
        sampler = DistributedSampler(range(size), replicas, rank, bool(shuffle), seed, bool(drop_last))
        sampler.set_epoch(epoch)
        found = indices(sampler)
        print(size, replicas, rank, shuffle, drop_last, seed % 2**64, epoch, len(sampler), fnv1a(found))
        count += 1
print("end", count)
