"""Real PyTorch clients against our store: every operation that torch 2.11 knows, from threads and processes.

usage: tcpstore_client.py STORE_SERVER
"""

import datetime
import multiprocessing
import os
import subprocess
import sys
import threading
import unittest

import torch
import torch.distributed as dist

STORE_SERVER = sys.argv.pop(1)
PATIENCE = datetime.timedelta(seconds=20)
SHORT = datetime.timedelta(milliseconds=50)
FORK = multiprocessing.get_context("fork")


# What came with PyTorch 2.8 and 2.10.
HAS_QUEUES = hasattr(dist.TCPStore, "queue_push")
HAS_CLONES = hasattr(dist.TCPStore, "clone")
LISTS_KEYS = hasattr(dist.TCPStore, "list_keys")


class OurServer:
    """Runs STORE_SERVER; it ends with its input, so with this process at the latest."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [STORE_SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *unused):
        _, self.complaints = self.process.communicate(timeout=20)
        assert self.process.returncode == 0

    def client(self, **options):
        return dist.TCPStore("127.0.0.1", self.port, is_master=False, timeout=PATIENCE,
                             **{"wait_for_workers": False, **options})


def in_processes(count, function, *arguments):
    """Runs function(rank, *arguments) in `count` processes; every one must end well."""
    processes = [FORK.Process(target=function, args=(rank, *arguments), daemon=True) for rank in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    return [process.exitcode for process in processes]


def meet(rank, server, world_size):
    store = server.client()
    store.add("arrived", 1)
    store.set(f"rank{rank}", str(rank))
    everybody = [f"rank{other}" for other in range(world_size)]
    assert store.multi_get(everybody) == [str(other).encode() for other in range(world_size)]
    if store.add("left", 1) == world_size:
        store.set("all_left", "1")
    store.wait(["all_left"])


def train(rank, server, world_size):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(server.port), RANK=str(rank), WORLD_SIZE=str(world_size),
                      TORCHELASTIC_USE_AGENT_STORE="True", TORCHELASTIC_RESTART_COUNT="0", TORCH_DIST_INIT_BARRIER="1",
                      GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", timeout=PATIENCE)
    tensor = torch.tensor([1.0, 2.0]) * (rank + 1)
    dist.all_reduce(tensor)
    assert tensor.tolist() == [10.0, 20.0], tensor
    pair = dist.new_group([0, 1])
    if rank < 2:
        dist.barrier(group=pair)
    objects = [None] * world_size
    dist.all_gather_object(objects, f"rank {rank}")
    assert objects == [f"rank {other}" for other in range(world_size)]
    dist.destroy_process_group()


class TcpStoreClient(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(OurServer())
        self.store = self.server.client()

    def test_keys(self):
        store = self.store
        store.set("k", b"v\0w")
        self.assertEqual(store.get("k"), b"v\0w")
        store.set("empty", "")
        self.assertEqual(store.get("empty"), b"")
        store.append("k", "tail")
        self.assertEqual(store.get("k"), b"v\0wtail")
        self.assertTrue(store.check(["k", "empty"]))
        self.assertFalse(store.check(["k", "nope"]))
        self.assertEqual(store.num_keys(), 2)
        if LISTS_KEYS:
            self.assertEqual(sorted(store.list_keys()), ["empty", "k"])
        self.assertTrue(store.delete_key("k"))
        self.assertFalse(store.delete_key("k"))

    def test_numbers(self):
        self.assertEqual(self.store.add("n", 5), 5)
        self.assertEqual(self.store.add("n", -7), -2)
        self.assertEqual(self.store.get("n"), b"-2")
        self.store.set("n", "41")
        self.assertEqual(self.store.add("n", 1), 42)

    def test_compare_set(self):
        self.assertEqual(self.store.compare_set("c", "expected", "new"), b"expected")
        self.assertFalse(self.store.check(["c"]))
        self.assertEqual(self.store.compare_set("c", "", "first"), b"first")
        self.assertEqual(self.store.compare_set("c", "first", "second"), b"second")
        self.assertEqual(self.store.compare_set("c", "first", "third"), b"second")

    def test_many_keys(self):
        keys = [f"key{i}" for i in range(5000)]
        values = [str(i) * (i % 7) for i in range(5000)]
        self.store.multi_set(keys, values)
        self.assertEqual(self.store.multi_get(keys), [value.encode() for value in values])

    def test_large_values(self):
        value = os.urandom(8 << 20)
        self.store.set("large", value)
        self.assertEqual(self.store.get("large"), value)

    def test_timeout_of_a_wait_leaves_the_connection_usable(self):
        with self.assertRaises(dist.DistStoreError):
            self.store.wait(["never"], SHORT)
        self.store.set_timeout(SHORT)
        with self.assertRaises(dist.DistStoreError):
            self.store.get("never")
        self.assertEqual(self.store.num_keys(), 0)

    def test_timeouts_that_cross_the_wake_up(self):
        setter = self.server.client()
        for i in range(200):
            thread = threading.Thread(target=setter.set, args=(f"key{i}", "x"))
            thread.start()
            try:
                self.store.wait([f"key{i}"], datetime.timedelta(milliseconds=1))
            except dist.DistStoreError:
                pass
            thread.join()
            self.assertEqual(self.store.add("rounds", 1), i + 1)

    @unittest.skipUnless(HAS_QUEUES, "this PyTorch has no queues")
    def test_queues(self):
        store, other = self.store, self.server.client()
        store.queue_push("q", "1")
        store.queue_push("q", "2")
        self.assertEqual(store.queue_len("q"), 2)
        self.assertEqual([other.queue_pop("q"), other.queue_pop("q")], [b"1", b"2"])
        with self.assertRaises(dist.QueueEmptyError):
            other.queue_pop("q", block=False)
        popped = []
        thread = threading.Thread(target=lambda: popped.append(other.queue_pop("q")))
        thread.start()
        store.queue_push("q", "late")
        thread.join(20)
        self.assertEqual(popped, [b"late"])

    def test_prefixes_and_clones(self):
        outer = dist.PrefixStore("job", self.store)
        inner = dist.PrefixStore("0/", outer)
        inner.set("k", "v")
        self.assertEqual(self.store.get("job/0//k"), b"v")
        if LISTS_KEYS:
            self.assertEqual(inner.list_keys(), ["k"])
        if HAS_QUEUES:
            inner.queue_push("q", "item")
            self.assertEqual(outer.queue_pop("0//q"), b"item")
        if not HAS_CLONES:
            return
        clone = self.store.clone()
        self.assertEqual(clone.get("job/0//k"), b"v")
        self.assertEqual(inner.clone().get("k"), b"v")

    def test_workers_are_counted_under_a_hidden_key(self):
        for _ in range(3):
            self.server.client(world_size=3, wait_for_workers=True)
        self.assertEqual(self.store.num_keys(), 1)
        if LISTS_KEYS:
            self.assertEqual(self.store.list_keys(), [])

    def test_fifty_processes_meet(self):
        self.assertEqual(in_processes(50, meet, self.server, 50), [0] * 50)
        self.assertEqual(self.store.add("arrived", 0), 50)

    def test_fifty_threads_meet(self):
        failures = []

        def run(rank):
            try:
                meet(rank, self.server, 50)
            except BaseException as failure:  # noqa: reported below
                failures.append(failure)

        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(failures, [])

    def test_a_gloo_group_trains(self):
        self.assertEqual(in_processes(4, train, self.server, 4), [0] * 4)


class TcpStoreServerGone(unittest.TestCase):
    def test_clients_of_a_closed_server_get_an_error(self):
        with OurServer() as server:
            store = server.client()
            store.set("k", "v")
            self.assertEqual(store.get("k"), b"v")
        self.assertEqual(server.complaints, "")
        with self.assertRaises(dist.DistNetworkError):
            store.get("k")


if __name__ == "__main__":
    unittest.main()
