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


def main():
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=True,
                          timeout=datetime.timedelta(seconds=20))
    store.set("from_python", "hello")
    store.add("counter", 1)
    visitor = subprocess.run([sys.argv[1], str(store.port)], stdout=subprocess.PIPE, text=True, timeout=60)
    assert visitor.returncode == 0, visitor.returncode
    assert visitor.stdout == EXPECTED, visitor.stdout
    assert store.get("from_cpp") == b"hello there"


if __name__ == "__main__":
    main()
