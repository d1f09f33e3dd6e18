"""A rank that trains when it is told to: train_worker.py MODEL SOCKET. The peer of train_worker.cpp.

After the first step it writes "ready" to the Unix socket. Then it answers each line with a number N by N more steps and
a line "milliseconds-of-a-step peak-megabytes". It ends when the socket is closed.
"""
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        x = F.relu(self.fc2(x))
        return F.log_softmax(self.fc3(x), 1)


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(784, 256)
        self.output = nn.Linear(256, 10)

    def forward(self, x):
        return F.log_softmax(self.output(F.relu(self.hidden(x.flatten(1)))), 1)


class Residual(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, padding=1, stride=stride)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(channels)
        self.skip = nn.Conv2d(inputs, channels, 1, stride=stride) if inputs != channels else None

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + (self.skip(x) if self.skip else x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 64, 3, padding=1)
        self.norm = nn.BatchNorm2d(64)
        blocks, inputs = [], 64
        for channels in (64, 128, 256, 512):
            blocks += [Residual(inputs, channels, 2 if inputs != channels else 1), Residual(channels, channels, 1)]
            inputs = channels
        self.blocks = nn.Sequential(*blocks)
        self.output = nn.Linear(512, 10)

    def forward(self, x):
        x = self.blocks(F.relu(self.norm(self.conv(x))))
        return F.log_softmax(self.output(x.mean((2, 3))), 1)


MODELS = {"perceptron": (Perceptron, 64), "lenet": (LeNet, 64), "resnet18": (ResNet18, 16)}


def peak_megabytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    make, batch = MODELS[sys.argv[1]]
    model = nn.parallel.DistributedDataParallel(make())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(batch, 1, 28, 28), torch.randint(10, (batch,))

    def step():
        optimizer.zero_grad()
        F.nll_loss(model(images), labels).backward()
        optimizer.step()

    step()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[2])
        lines = connection.makefile("rw")
        print("ready", file=lines, flush=True)
        while line := lines.readline():
            dist.barrier()
            start = time.perf_counter()
            for _ in range(int(line)):
                step()
            milliseconds = (time.perf_counter() - start) * 1000 / int(line)
            print(milliseconds, peak_megabytes(), file=lines, flush=True)
    dist.destroy_process_group()


main()
