#!/usr/bin/env python3
"""One rank of a job in which even ranks are Python and odd ranks are C++; both train one DDP model.

    ddprun -n 2 --no-python mixed_rank.py PATH_OF_MIXED_RANK

An odd rank becomes the C++ program mixed_rank, an even one trains here; without the path all ranks do. Each prints the
sum of the absolute values of its weights; they are equal to the last digit when the ranks really formed one group.

With OWN_STORES the ranks of this node talk through stores of their own first, as scripts do that need more than the
process group gives them.
"""

import os
import sys

if sys.argv[1:] and int(os.environ["RANK"]) % 2:
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


def own_stores(use_libuv):
    """One more client of the job's store, and behind a port of its own a store that the first local rank hosts."""
    job = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False, use_libuv=use_libuv)
    names = dist.PrefixStore(f"own/{use_libuv}/{os.environ['GROUP_RANK']}", job)
    rank, ranks = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    if rank == 0:
        own = dist.TCPStore("127.0.0.1", 0, ranks, is_master=True, wait_for_workers=False, use_libuv=use_libuv)
        names.set("port", str(own.port))
    else:
        own = dist.TCPStore("127.0.0.1", int(names.get("port")), ranks, is_master=False, use_libuv=use_libuv)
    own.set(f"rank{rank}", "x" * (rank + 1))
    lengths = [len(own.get(f"rank{each}")) for each in range(ranks)]
    if own.add("done", 1) == ranks:
        own.set("all done", "")
    own.wait(["all done"])
    print(f"rank {os.environ['RANK']} met {lengths} in a store of its own, libuv {use_libuv}", flush=True)
    return job, own  # as long as the script runs


def main():
    stores = [own_stores(libuv) for libuv in (True, False)] if "OWN_STORES" in os.environ else []
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
    del stores


collectives() if "COLLECTIVES" in os.environ else main()
