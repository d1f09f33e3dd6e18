"""The models that train.py trains; those of models.h in Python. A case is a set of words."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvNet(nn.Module):
    """Convolutions with batch norm, an embedding, and a layer that only some forwards use."""

    def __init__(self, case):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.norm1 = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.norm2 = nn.BatchNorm2d(16)
        self.fc1 = nn.Linear(256, 60)
        self.extra = nn.Linear(60, 60)
        self.fc2 = nn.Linear(60, 10)
        self.embed = nn.Embedding(10, 256, sparse="sparse" in case)
        self.conv1.requires_grad_("frozen" not in case)

    def forward(self, x, hint, use_extra):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        x = F.relu(self.fc1(x.flatten(1) + self.embed(hint)))
        if use_extra:
            x = F.relu(self.extra(x))
        return F.log_softmax(self.fc2(x), 1)

    def loss(self, model, images, labels, use_extra):
        return F.nll_loss(model(images, labels, use_extra), labels)


class Mlp(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.fc1 = nn.Linear(784, 40)
        self.extra = nn.Linear(40, 40)
        self.fc2 = nn.Linear(40, 10)

    def forward(self, x, use_extra):
        x = torch.tanh(self.fc1(x.flatten(1)))
        if use_extra:
            x = torch.tanh(self.extra(x))
        return self.fc2(x)

    def loss(self, model, images, labels, use_extra):
        return F.cross_entropy(model(images, use_extra), labels)


class Bag(nn.Module):
    """Sums of embeddings: sparse or dense gradients of many rows."""

    def __init__(self, case):
        super().__init__()
        self.bag = nn.EmbeddingBag(50, 16, mode="sum", sparse="sparse" in case)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, words):
        return self.fc2(self.bag(words))

    def loss(self, model, images, labels, use_extra):
        words = (images.flatten(1)[:, :7].abs() * 17).long() % 50
        return F.cross_entropy(model(words), labels)


class Outputs(nn.Module):
    """Two inputs; several outputs, of which the loss looks at some, and one with no gradient."""

    def __init__(self, case):
        super().__init__()
        self.left = nn.Linear(784, 12)
        self.right = nn.Linear(1, 12)
        self.fc2 = nn.Linear(12, 10)
        self.ignored = nn.Linear(12, 3)

    def forward(self, x, y):
        hidden = torch.tanh(self.left(x.flatten(1)) * self.right(y))
        return self.fc2(hidden), {"ignored": [self.ignored(hidden)], "hidden": [hidden, x]}

    def loss(self, model, images, labels, use_extra):
        scores, more = model(images, labels.float().unsqueeze(1))
        return F.cross_entropy(scores, labels) + more["hidden"][0].square().mean()


class Tied(nn.Module):
    """One layer under two names."""

    def __init__(self, case):
        super().__init__()
        self.fc1 = nn.Linear(784, 16)
        self.once = nn.Linear(16, 16)
        self.again = self.once
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.tanh(self.once(torch.tanh(self.fc1(x.flatten(1)))))
        return self.fc2(torch.tanh(self.again(x)))

    def loss(self, model, images, labels, use_extra):
        return F.cross_entropy(model(images), labels)


class TwoTypes(nn.Module):
    """Parameters of two types, which never share a bucket."""

    def __init__(self, case):
        super().__init__()
        self.fc1 = nn.Linear(784, 20)
        self.middle = nn.Linear(20, 20).double()
        self.fc2 = nn.Linear(20, 10)

    def forward(self, x):
        x = torch.tanh(self.fc1(x.flatten(1)))
        return self.fc2(torch.tanh(self.middle(x.double()).float()))

    def loss(self, model, images, labels, use_extra):
        return F.cross_entropy(model(images), labels)


MODELS = {"conv": ConvNet, "mlp": Mlp, "bag": Bag, "outputs": Outputs, "tied": Tied, "types": TwoTypes}
