// The networks that train_worker.py has as well, parameter for parameter.
#pragma once

#include <torch/torch.h>

#include "samples/common/lenet.h"
#include "samples/common/resnet18.h"

namespace ddprun::bench {

using digits::LeNet;

struct Perceptron : torch::nn::Module {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(784, 256));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(256, 10));

  // Images [N, 1, 28, 28] -> logarithms of the probabilities [N, 10].
  torch::Tensor forward(const torch::Tensor& x) {
    return torch::log_softmax(output(torch::relu(hidden(x.flatten(1)))), 1);
  }
};

struct ResNet18 : torch::nn::Module {
  digits::ResNet18 scores = register_module("scores", digits::ResNet18());

  // As above.
  torch::Tensor forward(const torch::Tensor& x) {
    return torch::log_softmax(scores->forward(x), 1);
  }
};

}  // namespace ddprun::bench
