"""A training that changes its language twice ends with the same bits: optimizers.py PROGRAM.

Python trains four steps and saves, the SDK trains three and saves, Python trains four more; beside it Python trains
all eleven alone.
"""
import os
import subprocess
import sys
import tempfile
import unittest

import torch
import torch.nn as nn
import torch.nn.functional as F

PROGRAM = sys.argv.pop()
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.norm = nn.BatchNorm1d(5)
        self.last = nn.Linear(5, 3)

    def forward(self, x):
        return F.log_softmax(self.last(F.relu(self.norm(self.first(x)))), 1)


def groups(net, named):
    matrices = [(name, p) for name, p in net.named_parameters() if p.dim() > 1]
    others = [(name, p) for name, p in net.named_parameters() if p.dim() <= 1]
    return [{"params": each if named else [p for _, p in each]} for each in (matrices, others)]


class Training:
    def __init__(self, kind, options, named=False):
        torch.manual_seed(5)
        self.net = Net()
        self.optimizer = getattr(torch.optim, kind)(groups(self.net, named), **options)
        self.optimizer.param_groups[1]["lr"] *= 0.5
        self.step = 0

    def train(self, steps):
        for _ in range(steps):
            torch.manual_seed(1000 + self.step)
            x, y = torch.randn(8, 6), torch.randint(3, (8,))
            self.optimizer.zero_grad()
            F.nll_loss(self.net(x), y).backward()
            self.optimizer.step()
            self.step += 1

    def state(self):
        return {"model": self.net.state_dict(), "optimizer": self.optimizer.state_dict(), "step": self.step}

    def load(self, state):
        self.net.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]


OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    "nesterov": ("SGD", {"lr": 0.05, "momentum": 0.8, "nesterov": True}),
    "dampening": ("SGD", {"lr": 0.05, "momentum": 0.8, "dampening": 0.1}),
    "adam": ("Adam", {"lr": 0.01}),
    "adam_decay": ("Adam", {"lr": 0.01, "weight_decay": 0.1, "betas": (0.8, 0.99), "eps": 1e-6}),
    "amsgrad": ("Adam", {"lr": 0.02, "amsgrad": True}),
    "adamw": ("AdamW", {"lr": 0.01}),
    "adamw_amsgrad": ("AdamW", {"lr": 0.02, "amsgrad": True, "weight_decay": 0.2}),
}


class Optimizers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.input = os.path.join(folder.name, "in.pt")
        self.output = os.path.join(folder.name, "out.pt")

    def sdk(self, kind, steps, state):
        torch.save(state, self.input)
        return subprocess.run([PROGRAM, "train", kind, str(steps), self.input, self.output], capture_output=True,
                              text=True, timeout=60)

    def assert_same(self, a, b, where=""):
        if isinstance(a, torch.Tensor):
            self.assertEqual(a.dtype, b.dtype, where)
            self.assertTrue(torch.equal(a, b), where)
        elif isinstance(a, dict):
            self.assertEqual(set(a) - {"param_names"}, set(b) - {"param_names"}, where)
            for key in a:
                self.assert_same(a[key], b.get(key), f"{where}[{key!r}]") if key != "param_names" else None
        elif isinstance(a, (list, tuple)):
            self.assertEqual(len(a), len(b), where)
            for index, (x, y) in enumerate(zip(a, b)):
                self.assert_same(x, y, f"{where}[{index}]")
        else:
            self.assertEqual(a, b, where)

    def test_training_goes_on_with_the_same_bits(self):
        for name, (kind, options) in OPTIMIZERS.items():
            for named in (False, True):
                with self.subTest(name, named=named):
                    whole, relay = Training(kind, options, named), Training(kind, options, named)
                    whole.train(11)
                    relay.train(4)
                    done = self.sdk(kind, 3, relay.state())
                    self.assertEqual(done.returncode, 0, done.stderr)
                    last = Training(kind, options, named)
                    last.load(torch.load(self.output, weights_only=True))
                    last.train(4)
                    self.assert_same(whole.state(), last.state())

    def test_before_the_first_step(self):
        for kind in ("SGD", "Adam", "AdamW"):
            whole = Training(kind, {"lr": 0.1})
            done = self.sdk(kind, 2, whole.state())
            self.assertEqual(done.returncode, 0, done.stderr)
            whole.train(2)
            self.assert_same(whole.state(), torch.load(self.output, weights_only=True))

    def test_names_find_parameters_in_another_order(self):
        training = Training("Adam", {"lr": 0.01}, named=True)
        training.train(2)
        state = training.state()
        group = state["optimizer"]["param_groups"][0]
        group["params"] = group["params"][::-1]
        group["param_names"] = group["param_names"][::-1]
        self.assertEqual(self.sdk("Adam", 1, state).returncode, 0)
        training.train(1)
        self.assert_same(training.net.state_dict(), torch.load(self.output, weights_only=True)["model"])

    def refused(self, kind, state):
        done = self.sdk(kind, 1, state)
        self.assertEqual(done.returncode, 3, done.stderr)
        return done.stderr

    def test_another_optimizer_is_refused(self):
        sgd, adam = Training("SGD", {"lr": 0.1}).state(), Training("Adam", {"lr": 0.1}).state()
        self.assertIn("param_groups[0] has no 'betas'", self.refused("Adam", sgd))
        self.assertIn("param_groups[1] has no 'momentum'", self.refused("SGD", adam))
        self.assertIn("it is Adam's, expected AdamW's", self.refused("AdamW", adam))
        self.assertIn("only minimize", self.refused("Adam", Training("Adam", {"lr": 0.1, "maximize": True}).state()))

    def test_what_does_not_fit_is_refused(self):
        training = Training("Adam", {"lr": 0.1})
        training.train(1)
        state = training.state()
        state["optimizer"]["state"][0]["exp_avg"] = torch.ones(1)
        self.assertIn("state[0]['exp_avg'] is [1], expected [5, 6]", self.refused("Adam", state))
        state["optimizer"]["param_groups"].pop()
        self.assertIn("it has 1 groups of parameters, expected 2", self.refused("Adam", state))


unittest.main(verbosity=2)
