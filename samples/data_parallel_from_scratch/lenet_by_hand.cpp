#include "samples/data_parallel_from_scratch/lenet_by_hand.h"

namespace by_hand {

Parameters initial_parameters(double scale) {
  Parameters all;
  const std::vector<std::vector<std::int64_t>> weights{
      {20, 1, 3, 3}, {50, 20, 5, 5}, {128, 800}, {10, 128}};
  for (const auto& shape : weights) {
    all.push_back(torch::randn(shape).mul_(scale).requires_grad_());
    all.push_back(torch::zeros(shape[0]).requires_grad_());
  }
  return all;
}

torch::Tensor lenet(const torch::Tensor& images, const Parameters& parameters) {
  const auto block = [&](const torch::Tensor& x, std::size_t i) {
    return torch::avg_pool2d(torch::relu(torch::conv2d(x, parameters[i], parameters[i + 1])), 2, 2);
  };
  const auto features = block(block(images, 0), 2).flatten(1);
  const auto hidden = torch::relu(torch::linear(features, parameters[4], parameters[5]));
  return torch::linear(hidden, parameters[6], parameters[7]);
}

void sgd(Parameters& parameters, double learning_rate, std::int64_t batch_size) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : parameters) {
    parameter.sub_(parameter.grad(), learning_rate / static_cast<double>(batch_size));
    parameter.grad().zero_();
  }
}

}  // namespace by_hand
