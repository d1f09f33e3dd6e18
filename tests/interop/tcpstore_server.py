"""Our C++ client against PyTorch's own store server.

usage: tcpstore_server.py STORE_VISITOR
"""

import datetime
import subprocess
import sys

import torch.distributed as dist

EXPECTED = """\
get hello
add 5
compare_set hello
check 0
wait 0
multi_get yzx
delete 1
queue_length 1
queue_pop item
queue_empty 0
list_keys counter,from_cpp,from_python,m2,
num_keys 4
"""


# What came with PyTorch 2.8 and 2.10: the visitor leaves it out where the server would hang up.
HAS_QUEUES = hasattr(dist.TCPStore, "queue_push")
LISTS_KEYS = hasattr(dist.TCPStore, "list_keys")


def expected():
    lines = EXPECTED.splitlines(keepends=True)
    if not HAS_QUEUES:
        lines = [line for line in lines if not line.startswith("queue_")]
    if not LISTS_KEYS:
        lines = [line for line in lines if not line.startswith("list_keys")]
    return "".join(lines)


def main():
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=True,
                          timeout=datetime.timedelta(seconds=20))
    store.set("from_python", "hello")
    store.add("counter", 1)
    words = [sys.argv[1], str(store.port)] + ["queues"] * HAS_QUEUES + ["list_keys"] * LISTS_KEYS
    visitor = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=60)
    assert visitor.returncode == 0, visitor.returncode
    assert visitor.stdout == expected(), visitor.stdout
    assert store.get("from_cpp") == b"hello there"


if __name__ == "__main__":
    main()
