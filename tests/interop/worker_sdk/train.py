"""One rank that trains with Python's DDP and prints a check sum of every gradient: train.py MODE...

train.cpp does the same with the SDK; the test compares the lines. Each mode is a training of its own.
"""
import sys
import zlib

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

SHARE = 8  # samples of a rank


class Net(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.norm1 = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.norm2 = nn.BatchNorm2d(16)
        self.fc1 = nn.Linear(256, 120)
        self.extra = nn.Linear(120, 120)
        self.fc2 = nn.Linear(120, 10)
        self.embed = nn.Embedding(10, 256, sparse=mode == "sparse")
        self.conv1.requires_grad_(mode != "frozen")

    def forward(self, x, hint, use_extra):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        x = F.relu(self.fc1(x.flatten(1) + self.embed(hint)))
        if use_extra:
            x = F.relu(self.extra(x))
        return F.log_softmax(self.fc2(x), 1)


def show(what, tensor):
    text = "none"
    if tensor is not None:
        plain = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
        text = "%08x" % zlib.crc32(plain.contiguous().numpy().tobytes())
    print(f"rank {dist.get_rank()} {what} {text}", flush=True)


def train(model, net, step, mode):
    torch.manual_seed(1000 + step)
    count = SHARE * dist.get_world_size()
    images, labels = torch.randn(count, 1, 28, 28), torch.randint(10, (count,))
    first = SHARE * dist.get_rank()
    share = slice(first, first + SHARE)
    use_extra = {"find_unused": dist.get_rank() == 1, "static_graph": False}.get(mode, True)
    F.nll_loss(model(images[share], labels[share], use_extra), labels[share]).backward()
    for name, parameter in net.named_parameters():
        show(f"{mode}: step {step} gradient {name}", parameter.grad)


def options(mode):
    if mode == "default_buckets":
        return {}
    if mode == "bucket_view":
        return {"gradient_as_bucket_view": True, "bucket_cap_mb": 0.05}
    return {
        "find_unused_parameters": mode == "find_unused",
        "static_graph": mode == "static_graph",
        "broadcast_buffers": mode != "own_buffers",
        "bucket_cap_mb": 0.05,
    }


def run(mode):
    torch.manual_seed(1 + dist.get_rank())  # DDP has to make the ranks equal
    net = Net(mode)
    model = nn.parallel.DistributedDataParallel(net, **options(mode))
    momentum = 0 if mode == "sparse" else 0.9
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=momentum, foreach=False)
    for step in range(5):
        optimizer.zero_grad()
        if mode == "no_sync":
            with model.no_sync():
                train(model, net, 10 + step, mode)
        train(model, net, step, mode)
        optimizer.step()
    for name, tensor in net.state_dict().items():
        show(f"{mode}: final {name}", tensor)
    data = model._get_ddp_logging_data()
    for name in ("bucket_sizes", "rebuilt_bucket_sizes", "has_rebuilt_buckets"):
        print(f"rank {dist.get_rank()} {mode}: {name} {data.get(name, '')}", flush=True)


def use_groups():
    last = dist.get_world_size() - 1
    group = dist.new_group(list(range(last, -1, -1)))
    tensor = torch.arange(4.0) + dist.get_rank()
    dist.all_reduce(tensor, group=group)
    show("group sum", tensor)
    gathered = [torch.empty(4) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, tensor * (1 + dist.get_rank()))
    dist.broadcast(tensor, last)
    show("gathered", torch.cat(gathered))
    dist.barrier()


torch.set_num_threads(1)
dist.init_process_group("gloo")
for each in sys.argv[1:]:
    run(each)
use_groups()
dist.destroy_process_group()
