#!/usr/bin/env python3
"""One rank of a job in which even ranks are Python and odd ranks are C++; both train one DDP model.

    ddprun -n 2 --no-python mixed_rank.py PATH_OF_MIXED_RANK

An odd rank becomes the C++ program mixed_rank, an even one trains here. Each prints the sum of the absolute values of
its weights; they are equal to the last digit when the ranks really formed one group.
"""

import os
import sys

if int(os.environ["RANK"]) % 2:
    os.execv(sys.argv[1], sys.argv[1:2])

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def collectives():
    dist.init_process_group("gloo")
    tensor = torch.full((2,), 1.0 + dist.get_rank())
    dist.all_reduce(tensor)
    group = dist.new_group([0, 1])
    dist.broadcast(tensor, 0, group=group)
    dist.barrier()
    print(f"rank {dist.get_rank()} of {dist.get_world_size()} in Python: sum |w| = {tensor.sum():.17g}", flush=True)
    if "MISMATCH" in os.environ:
        dist.all_reduce(torch.zeros(2))
    dist.destroy_process_group()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(100 + rank)  # other weights on each rank: those of rank 0 must win
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(20):
        inputs = torch.randn(4, 8)  # other data on each rank
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True)).backward()
        optimizer.step()
    total = sum(p.detach().double().abs().sum() for p in model.parameters()).item()
    print(f"rank {rank} of {dist.get_world_size()} in Python: sum |w| = {total:.17g}", flush=True)
    dist.destroy_process_group()


collectives() if "COLLECTIVES" in os.environ else main()
