// The images as LibTorch's DataLoader wants them.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "samples/common/labeled_images.h"

namespace digits {

// Images of 1x28x28 with values from -1 (background) to 1, and labels. A whole batch is picked at
// once.
class ImageDataset
    : public torch::data::datasets::BatchDataset<ImageDataset, torch::data::Example<>> {
 public:
  explicit ImageDataset(const LabeledImages& from);

  torch::data::Example<> get_batch(c10::ArrayRef<std::size_t> indices) override;
  std::optional<std::size_t> size() const override {
    return static_cast<std::size_t>(labels_.size(0));
  }

  // Every step-th example from `first` on: the part of one rank, without repetition; may be empty.
  torch::data::Example<> stride(int first, int step) const;

 private:
  torch::Tensor images_;
  torch::Tensor labels_;
};

}  // namespace digits
