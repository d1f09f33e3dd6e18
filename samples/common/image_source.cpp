#include "samples/common/image_source.h"

#include <filesystem>
#include <stdexcept>

#include "samples/common/idx.h"

namespace digits {

const char* const kImageSourceHelp =
    R"(  --data DIR       MNIST or Fashion-MNIST: the folder with train-images-idx3-ubyte,
                   train-labels-idx1-ubyte and the two of t10k, each as it is or
                   as .gz
  --digits FILE    scikit-learn's digits.csv.gz ($DIGITS_CSV, else
                   ~/.cache/ddprun/digits/digits.csv.gz)
  --help           this text
)";

void ImageSource::add_options(samples::OptionTable& table) {
  table.text("--data", data);
  table.text("--digits", digits);
}

void ImageSource::check() const {
  if (!data.empty() && !digits.empty()) {
    throw std::invalid_argument("--data and --digits: expected one of them, found both");
  }
}

std::string ImageSource::describe(const LabeledImages& images) const {
  const std::string size = std::to_string(images.rows) + "x" + std::to_string(images.columns);
  const std::string name = data.empty() ? "handwritten digits" : data;
  return name + " (" + size + (size == "28x28" ? "" : ", enlarged to 28x28") + ")";
}

Split ImageSource::read() const {
  if (!data.empty()) return {read_idx_folder(data, "train"), read_idx_folder(data, "t10k")};
  const auto path = digits.empty() ? default_digits_path() : digits;
  if (digits.empty() && !std::filesystem::exists(path)) {
    throw std::runtime_error(
        path + " is not there. './dev demo' fetches it; --digits FILE and --data DIR name others");
  }
  return split_train_test(read_digits_csv(path));
}

}  // namespace digits
