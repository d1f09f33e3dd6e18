// The models that train.cpp trains; those of models.py in C++. `loss` runs DistributedDataParallel.
#pragma once

#include "tests/interop/worker_sdk/case.h"

namespace ddp::test {

namespace nn = torch::nn;

// Convolutions with batch norm, an embedding, and a layer that only some forwards use.
struct ConvNet : nn::Module {
  explicit ConvNet(const Case& test)
      : conv1(register_module("conv1", nn::Conv2d(1, 6, 5))),
        norm1(register_module("norm1", nn::BatchNorm2d(6))),
        conv2(register_module("conv2", nn::Conv2d(6, 16, 5))),
        norm2(register_module("norm2", nn::BatchNorm2d(16))),
        fc1(register_module("fc1", nn::Linear(256, 60))),
        extra(register_module("extra", nn::Linear(60, 60))),
        fc2(register_module("fc2", nn::Linear(60, 10))),
        embed(register_module(
            "embed", nn::Embedding(nn::EmbeddingOptions(10, 256).sparse(test.has("sparse"))))) {
    for (auto& parameter : conv1->parameters()) parameter.set_requires_grad(!test.has("frozen"));
  }

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& hint, bool use_extra) {
    x = torch::max_pool2d(torch::relu(norm1(conv1(x))), 2);
    x = torch::max_pool2d(torch::relu(norm2(conv2(x))), 2);
    x = torch::relu(fc1(x.flatten(1) + embed(hint)));
    if (use_extra) x = torch::relu(extra(x));
    return torch::log_softmax(fc2(x), 1);
  }

  static torch::Tensor loss(auto& model, const Share& share) {
    return torch::nll_loss(model(share.images, share.labels, share.use_extra), share.labels);
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d norm1;
  nn::Conv2d conv2;
  nn::BatchNorm2d norm2;
  nn::Linear fc1, extra, fc2;
  nn::Embedding embed;
};

struct Mlp : nn::Module {
  explicit Mlp(const Case&)
      : fc1(register_module("fc1", nn::Linear(784, 40))),
        extra(register_module("extra", nn::Linear(40, 40))),
        fc2(register_module("fc2", nn::Linear(40, 10))) {}

  torch::Tensor forward(torch::Tensor x, bool use_extra) {
    x = torch::tanh(fc1(x.flatten(1)));
    if (use_extra) x = torch::tanh(extra(x));
    return fc2(x);
  }

  static torch::Tensor loss(auto& model, const Share& share) {
    return torch::cross_entropy_loss(model(share.images, share.use_extra), share.labels);
  }

  nn::Linear fc1, extra, fc2;
};

// Sums of embeddings: sparse or dense gradients of many rows.
struct Bag : nn::Module {
  explicit Bag(const Case& test)
      : bag(register_module(
            "bag",
            nn::EmbeddingBag(
                nn::EmbeddingBagOptions(50, 16).mode(torch::kSum).sparse(test.has("sparse"))))),
        fc2(register_module("fc2", nn::Linear(16, 10))) {}

  torch::Tensor forward(const torch::Tensor& words) { return fc2(bag(words)); }

  static torch::Tensor loss(auto& model, const Share& share) {
    const auto numbers = share.images.flatten(1).slice(1, 0, 7).abs() * 17;
    return torch::cross_entropy_loss(model(numbers.to(torch::kLong).remainder(50)), share.labels);
  }

  nn::EmbeddingBag bag;
  nn::Linear fc2;
};

// Two inputs; several outputs, of which the loss looks at some, and one with no gradient.
struct Outputs : nn::Module {
  explicit Outputs(const Case&)
      : left(register_module("left", nn::Linear(784, 12))),
        right(register_module("right", nn::Linear(1, 12))),
        fc2(register_module("fc2", nn::Linear(12, 10))),
        ignored(register_module("ignored", nn::Linear(12, 3))) {}

  using More = std::map<std::string, std::vector<torch::Tensor>>;
  std::tuple<torch::Tensor, More> forward(const torch::Tensor& x, const torch::Tensor& y) {
    const auto hidden = torch::tanh(left(x.flatten(1)) * right(y));
    return {fc2(hidden), {{"ignored", {ignored(hidden)}}, {"hidden", {hidden, x}}}};
  }

  static torch::Tensor loss(auto& model, const Share& share) {
    const auto [scores, more] = model(share.images, share.labels.to(torch::kFloat).unsqueeze(1));
    return torch::cross_entropy_loss(scores, share.labels) + more.at("hidden")[0].square().mean();
  }

  nn::Linear left, right, fc2, ignored;
};

// One layer under two names.
struct Tied : nn::Module {
  explicit Tied(const Case&)
      : fc1(register_module("fc1", nn::Linear(784, 16))),
        once(register_module("once", nn::Linear(16, 16))),
        again(register_module("again", once)),
        fc2(register_module("fc2", nn::Linear(16, 10))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return fc2(torch::tanh(again(torch::tanh(once(torch::tanh(fc1(x.flatten(1))))))));
  }

  static torch::Tensor loss(auto& model, const Share& share) {
    return torch::cross_entropy_loss(model(share.images), share.labels);
  }

  nn::Linear fc1, once, again, fc2;
};

// Parameters of two types, which never share a bucket.
struct TwoTypes : nn::Module {
  explicit TwoTypes(const Case&)
      : fc1(register_module("fc1", nn::Linear(784, 20))),
        middle(register_module("middle", nn::Linear(20, 20))),
        fc2(register_module("fc2", nn::Linear(20, 10))) {
    middle->to(torch::kDouble);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto hidden = torch::tanh(fc1(x.flatten(1))).to(torch::kDouble);
    return fc2(torch::tanh(middle(hidden).to(torch::kFloat)));
  }

  static torch::Tensor loss(auto& model, const Share& share) {
    return torch::cross_entropy_loss(model(share.images), share.labels);
  }

  nn::Linear fc1, middle, fc2;
};

}  // namespace ddp::test
