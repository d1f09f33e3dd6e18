#include "samples/common/resnet18.h"

#include <array>

namespace digits {
namespace {

torch::nn::Conv2d convolution(int in, int out, int size, int stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2));
}

}  // namespace

void ResidualImpl::reset() {
  conv1 = register_module("conv1", convolution(in, out, 3, stride));
  norm1 = register_module("norm1", torch::nn::BatchNorm2d(out));
  conv2 = register_module("conv2", convolution(out, out, 3, 1));
  norm2 = register_module("norm2", torch::nn::BatchNorm2d(out));
  if (stride != 1 || in != out) {
    around = register_module("around", convolution(in, out, 1, stride));
  }
}

torch::Tensor ResidualImpl::forward(const torch::Tensor& x) {
  const auto y = norm2(conv2(torch::relu(norm1(conv1(x)))));
  return torch::relu(y + (around ? around(x) : x));
}

void ResNet18Impl::reset() {
  stages = register_module(
      "stages", torch::nn::Sequential(convolution(1, 64, 3, 1), torch::nn::BatchNorm2d(64),
                                      torch::nn::ReLU()));
  for (const auto& [in, out, stride] : {std::array{64, 64, 1}, std::array{64, 128, 2},
                                        std::array{128, 256, 2}, std::array{256, 512, 2}}) {
    stages->push_back(Residual(in, out, stride));
    stages->push_back(Residual(out, out, 1));
  }
  last = register_module("last", torch::nn::Linear(512, 10));
}

torch::Tensor ResNet18Impl::forward(const torch::Tensor& x) {
  return last(stages->forward(x).mean({2, 3}));
}

}  // namespace digits
