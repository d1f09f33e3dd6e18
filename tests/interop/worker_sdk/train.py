"""One rank that trains with Python's DDP and prints a check sum of every gradient: train.py CASE...

train.cpp does the same with the SDK; the test compares the lines. Each case is a training of its own, given by words
with + between them: a model, and whatever differs from the usual options, optimizer, hook or number of inputs.
"""
import contextlib
import sys
import zlib

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

sys.dont_write_bytecode = True  # nothing beside the sources
from models import MODELS

SHARE = 8  # samples of a rank


def show(what, tensor):
    text = "none"
    if tensor is not None:
        plain = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
        text = "%08x" % zlib.crc32(plain.contiguous().numpy().tobytes())
    print(f"rank {dist.get_rank()} {what} {text}", flush=True)


def train(model, net, step, name, case):
    torch.manual_seed(1000 + step)
    count = SHARE * dist.get_world_size()
    images, labels = torch.randn(count, 1, 28, 28), torch.randint(10, (count,))
    first = SHARE * dist.get_rank()
    share = slice(first, first + SHARE)
    use_extra = dist.get_rank() == 1 if "find_unused" in case else "static_graph" not in case
    net.loss(model, images[share], labels[share], use_extra).backward()
    for key, parameter in net.named_parameters():
        show(f"{name}: step {step} gradient {key}", parameter.grad)


def options(case):
    chosen = {
        "find_unused_parameters": "find_unused" in case or "find_unused_anyway" in case,
        "static_graph": "static_graph" in case,
        "gradient_as_bucket_view": "bucket_view" in case,
        "init_sync": "no_init_sync" not in case,
    }
    if "default_buckets" not in case:
        chosen["bucket_cap_mb"] = 0.004
    if "cap_list" in case:
        del chosen["bucket_cap_mb"]
        chosen["bucket_cap_mb_list"] = [0.001, 0.005]
    if "skip_unused" in case:
        chosen["skip_all_reduce_unused_params"] = True
    if "own_buffers" in case:
        chosen["broadcast_buffers"] = False
    if "first_buffers" in case:
        chosen["forward_sync_buffers"] = False
    if "batched" in case:
        chosen["batched_grad_copy"] = True
    if "lazy" in case:
        chosen["lazy_bucket_allocation"] = True
    return chosen


def optimizer_for(parameters, case):
    if "adam" in case:
        return torch.optim.Adam(parameters, lr=0.003, weight_decay=0.01, foreach=False)
    if "adamw" in case:
        return torch.optim.AdamW(parameters, lr=0.003, foreach=False)
    if "rmsprop" in case:
        return torch.optim.RMSprop(parameters, lr=0.003, foreach=False)
    if "adagrad" in case:
        return torch.optim.Adagrad(parameters, lr=0.01, foreach=False)
    momentum = 0 if "sparse" in case else 0.9
    return torch.optim.SGD(parameters, lr=0.05, momentum=momentum, foreach=False)


def own_hook(state, bucket):
    scale, shift = 2 if bucket.is_last() else 1, 0.001 * (bucket.index() + 1)
    sum_of_all = dist.all_reduce(bucket.buffer() / dist.get_world_size(), async_op=True)
    return sum_of_all.get_future().then(lambda done: done.value()[0] * scale + shift)


def bf16_hook(state, bucket):
    return default_hooks.bf16_compress_hook(state, bucket)


# DDP refuses it on the CPU by its name.
bf16_hook.__qualname__ = "bf16_compress_hook"
HOOKS = {
    "allreduce_hook": default_hooks.allreduce_hook,
    "fp16_hook": default_hooks.fp16_compress_hook,
    "bf16_hook": bf16_hook,
    "fp16_wrapper": default_hooks.fp16_compress_wrapper(own_hook),
    "own_hook": own_hook,
}


def register_hook(model, case):
    for each in HOOKS.keys() & case:
        model.register_comm_hook(None, HOOKS[each])
    if "fp16_builtin" in case:
        model._register_builtin_comm_hook(dist.BuiltinCommHookType.FP16_COMPRESS)


def joining(model, case):
    if "join_initial" in case:
        return model.join()
    if "join_effective" in case:
        return model.join(divide_by_initial_world_size=False)
    return contextlib.nullcontext()


# Counts and choices; what is measured differs from run to run.
LOGGED = """backend_name bucket_sizes rebuilt_bucket_sizes rebuilt_per_bucket_param_indices has_rebuilt_buckets
    broadcast_buffers bucket_cap_bytes can_set_static_graph comm_hook dtypes find_unused_parameters
    gradient_as_bucket_view initial_bucket_size_limits is_multi_device_module iteration join_uneven_inputs num_buckets_reduced
    num_iterations num_parameter_tensors rank static_graph total_parameter_size_bytes unused_parameter_size
    world_size""".split()


def show_logged(model, name):
    data = model._get_ddp_logging_data()
    print(f"rank {dist.get_rank()} {name}: logged names {' '.join(sorted(data))}", flush=True)
    for key in LOGGED:
        print(f"rank {dist.get_rank()} {name}: logged {key} {data.get(key, 'nothing')}", flush=True)


def run(name):
    case = set(name.split("+"))
    torch.manual_seed(1 if "no_init_sync" in case else 1 + dist.get_rank())  # DDP makes the ranks equal
    net = MODELS[name.split("+")[0]](case)
    model = nn.parallel.DistributedDataParallel(net, **options(case))
    register_hook(model, case)
    optimizer = optimizer_for(model.parameters(), case)

    def one_step(step):
        optimizer.zero_grad()
        if "no_sync" in case:
            with model.no_sync():
                train(model, net, 10 + step, name, case)
        train(model, net, step, name, case)
        optimizer.step()

    with joining(model, case):
        for step in range(2 + dist.get_rank() if name.find("+join") > 0 else 4):
            one_step(step)
    one_step(9)
    for key, tensor in net.state_dict().items():
        show(f"{name}: final {key}", tensor)
    show_logged(model, name)


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
