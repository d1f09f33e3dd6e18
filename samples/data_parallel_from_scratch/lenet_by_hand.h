// LeNet as functions of a list of parameters, so that there is nothing but tensors to copy.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace by_hand {

using Parameters = std::vector<torch::Tensor>;

// Weights drawn with standard deviation `scale`, biases 0; all need gradients.
Parameters initial_parameters(double scale);

// Images [N, 1, 28, 28] -> scores [N, 10].
torch::Tensor lenet(const torch::Tensor& images, const Parameters& parameters);

// Steps against the gradients, which are sums over `batch_size` images, and clears them.
void sgd(Parameters& parameters, double learning_rate, std::int64_t batch_size);

}  // namespace by_hand
