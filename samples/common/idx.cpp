#include "samples/common/idx.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stdexcept>

#include "samples/common/gzip_file.h"

namespace digits {
namespace {

constexpr std::uint32_t kImages = 0x00000803;
constexpr std::uint32_t kLabels = 0x00000801;
// Sixteen times the pixels of MNIST's training images: a header that says more is not one.
constexpr std::uint64_t kMaxBytes = std::uint64_t{16} * 60000 * 28 * 28;

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::string hex(std::uint32_t number) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", number);
  return text;
}

std::string kind(std::uint32_t magic) {
  if (magic == kImages) return hex(magic) + " (an IDX file of images)";
  if (magic == kLabels) return hex(magic) + " (an IDX file of labels)";
  return hex(magic);
}

// The numbers behind the magic one.
std::vector<std::uint32_t> read_header(GzipFile& file, std::uint32_t magic, std::size_t numbers) {
  const std::size_t size = 4 * (1 + numbers);
  const auto bytes = file.read(size);
  if (bytes.size() >= 4 && big_endian(bytes) != magic) {
    file.fail("expected the first four bytes " + kind(magic) + ", found " +
              kind(big_endian(bytes)));
  }
  if (bytes.size() < size) {
    file.fail("expected an IDX header of " + std::to_string(size) + " bytes, found a file of " +
              std::to_string(bytes.size()));
  }
  std::vector<std::uint32_t> header;
  for (std::size_t i = 1; i <= numbers; ++i)
    header.push_back(big_endian(std::span(bytes).subspan(4 * i, 4)));
  return header;
}

std::vector<std::uint8_t> read_body(GzipFile& file, std::uint64_t size, const std::string& items) {
  auto bytes = file.read(size);
  if (bytes.size() < size) {
    file.fail("expected " + std::to_string(size) + " bytes for " + items + ", found " +
              std::to_string(bytes.size()));
  }
  if (!file.read(1).empty()) {
    file.fail("expected the end of the file after " + items + ", found more bytes");
  }
  return bytes;
}

std::string find_plain_or_gz(const std::string& folder, const std::string& name) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  if (std::filesystem::exists(path)) return path;
  if (std::filesystem::exists(path + ".gz")) return path + ".gz";
  throw std::runtime_error(path + ": expected this file or " + name + ".gz, found neither");
}

}  // namespace

LabeledImages read_idx_images(const std::string& path) {
  GzipFile file(path);
  const auto header = read_header(file, kImages, 3);
  const std::uint64_t count = header[0], rows = header[1], columns = header[2];
  const std::string items =
      std::to_string(count) + " images of " + std::to_string(rows) + "x" + std::to_string(columns);
  if (count == 0 || rows == 0 || columns == 0)
    file.fail("expected images, found a header of " + items);
  // Divided, not multiplied: the product of three 32-bit numbers overflows 64 bits.
  if (rows * columns > kMaxBytes / count) {
    file.fail("expected at most " + std::to_string(kMaxBytes) + " pixels, found a header of " +
              items);
  }
  return {rows, columns, 255, read_body(file, count * rows * columns, items), {}};
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path) {
  GzipFile file(path);
  const std::uint64_t count = read_header(file, kLabels, 1)[0];
  if (count == 0) file.fail("expected labels, found a header of 0");
  const auto labels = read_body(file, count, std::to_string(count) + " labels");
  const auto wrong = std::ranges::find_if(labels, [](std::uint8_t label) { return label > 9; });
  if (wrong != labels.end()) {
    file.fail("expected labels 0 to 9, found " + std::to_string(*wrong) + " as label " +
              std::to_string(wrong - labels.begin()));
  }
  return labels;
}

LabeledImages read_idx_folder(const std::string& folder, const std::string& part) {
  const auto images_path = find_plain_or_gz(folder, part + "-images-idx3-ubyte");
  const auto labels_path = find_plain_or_gz(folder, part + "-labels-idx1-ubyte");
  auto images = read_idx_images(images_path);
  images.labels = read_idx_labels(labels_path);
  const std::size_t count = images.pixels.size() / (images.rows * images.columns);
  if (images.labels.size() != count) {
    throw std::runtime_error(labels_path + ": expected " + std::to_string(count) +
                             " labels, one for each image in " + images_path + ", found " +
                             std::to_string(images.labels.size()));
  }
  return images;
}

}  // namespace digits
