#include "samples/common/image_dataset.h"

namespace digits {
namespace {

torch::Tensor bytes_to_tensor(const std::vector<std::uint8_t>& bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  // The clone owns its memory, from_blob does not.
  return torch::from_blob(const_cast<std::uint8_t*>(bytes.data()), {size}, torch::kUInt8).clone();
}

}  // namespace

ImageDataset::ImageDataset(const LabeledImages& from)
    : images_(bytes_to_tensor(from.pixels).to(torch::kFloat)),
      labels_(bytes_to_tensor(from.labels).to(torch::kLong)) {
  namespace F = torch::nn::functional;
  const auto rows = static_cast<std::int64_t>(from.rows),
             columns = static_cast<std::int64_t>(from.columns);
  images_ = images_.div_(0.5 * from.white).sub_(1.0).view({labels_.size(0), 1, rows, columns});
  if (rows == 28 && columns == 28) return;
  images_ = F::interpolate(images_, F::InterpolateFuncOptions()
                                        .size(std::vector<std::int64_t>{28, 28})
                                        .mode(torch::kBilinear)
                                        .align_corners(false));
}

torch::data::Example<> ImageDataset::get_batch(c10::ArrayRef<std::size_t> indices) {
  const auto picked = torch::tensor(std::vector<std::int64_t>(indices.begin(), indices.end()));
  return {images_.index_select(0, picked), labels_.index_select(0, picked)};
}

torch::data::Example<> ImageDataset::stride(int first, int step) const {
  return {images_.slice(0, first, std::nullopt, step), labels_.slice(0, first, std::nullopt, step)};
}

}  // namespace digits
