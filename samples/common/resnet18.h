// ResNet-18 for small grey images: a 3x3 convolution without pooling in front of the four stages.
#pragma once

#include <torch/torch.h>

namespace digits {

// Two 3x3 convolutions with batch norm beside a way around them. A stride, or another number of
// channels, puts a 1x1 convolution into that way.
struct ResidualImpl : torch::nn::Cloneable<ResidualImpl> {
  ResidualImpl(int from, int to, int with_stride) : in(from), out(to), stride(with_stride) {
    ResidualImpl::reset();
  }
  void reset() override;
  torch::Tensor forward(const torch::Tensor& x);

  int in, out, stride;
  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr}, around{nullptr};
  torch::nn::BatchNorm2d norm1{nullptr}, norm2{nullptr};
};
TORCH_MODULE(Residual);

// Images [N, 1, 28, 28] -> scores [N, 10]. Cloneable, so that data_parallel can make replicas.
struct ResNet18Impl : torch::nn::Cloneable<ResNet18Impl> {
  ResNet18Impl() { ResNet18Impl::reset(); }
  void reset() override;
  torch::Tensor forward(const torch::Tensor& x);

  torch::nn::Sequential stages{nullptr};
  torch::nn::Linear last{nullptr};
};
TORCH_MODULE(ResNet18);

}  // namespace digits
