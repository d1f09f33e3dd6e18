// LeNet-5 as it is written today: two convolutions, three linear layers, ReLU and max pooling.
#pragma once

#include <torch/torch.h>

namespace digits {

struct LeNet : torch::nn::Module {
  torch::nn::Conv2d conv1 =
      register_module("conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 6, 5).padding(2)));
  torch::nn::Conv2d conv2 = register_module("conv2", torch::nn::Conv2d(6, 16, 5));
  torch::nn::Linear fc1 = register_module("fc1", torch::nn::Linear(16 * 5 * 5, 120));
  torch::nn::Linear fc2 = register_module("fc2", torch::nn::Linear(120, 84));
  torch::nn::Linear fc3 = register_module("fc3", torch::nn::Linear(84, 10));

  // Images [N, 1, 28, 28] -> logarithms of the probabilities [N, 10].
  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    x = torch::relu(fc1(x.flatten(1)));
    x = torch::relu(fc2(x));
    return torch::log_softmax(fc3(x), 1);
  }
};

}  // namespace digits
