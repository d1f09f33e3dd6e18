"""PyTorch's own store server (libuv): prints its port and stays until it is killed."""

import signal

import torch.distributed as dist

store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=True)
print(store.port, flush=True)
signal.pause()
