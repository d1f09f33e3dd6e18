// Any bytes, plain or packed by gzip, as a file of images, of labels and of digits: it is read or
// refused with the file's name, and what is read is what the header says.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <stdexcept>

#include "rendezvous/base/unique_fd.h"
#include "samples/common/digits_csv.h"
#include "samples/common/idx.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

// A file in memory.
class File {
 public:
  explicit File(std::string_view bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(::write(fd_.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  UniqueFd fd_;
};

void read(const std::string& path, const std::function<void()>& reader) {
  try {
    reader();
  } catch (const std::runtime_error& error) {
    require(std::string_view(error.what()).starts_with(path + ": "));
    require(fuzz::is_one_line(error.what()));
  }
}

std::string big_endian(std::uint64_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::string text_of(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

bool packed(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

void check_images(const std::string& path, std::string_view bytes) {
  const digits::LabeledImages images = digits::read_idx_images(path);
  require(images.rows > 0 && images.columns > 0);
  const std::uint64_t size = images.rows * images.columns;
  require(!images.pixels.empty() && images.pixels.size() % size == 0);
  if (packed(bytes)) return;
  const std::string head = big_endian(0x803) + big_endian(images.pixels.size() / size) +
                           big_endian(images.rows) + big_endian(images.columns);
  require(head + text_of(images.pixels) == bytes);
}

void check_labels(const std::string& path, std::string_view bytes) {
  const std::vector<std::uint8_t> labels = digits::read_idx_labels(path);
  require(!labels.empty() && std::ranges::all_of(labels, [](auto label) { return label <= 9; }));
  if (packed(bytes)) return;
  require(big_endian(0x801) + big_endian(labels.size()) + text_of(labels) == bytes);
}

void check_digits(const std::string& path) {
  const digits::LabeledImages images = digits::read_digits_csv(path);
  require(images.pixels.size() == 64 * images.labels.size() && !images.labels.empty());
  require(std::ranges::all_of(images.pixels, [](auto pixel) { return pixel <= 16; }));
  const digits::Split split = digits::split_train_test(images);
  require(split.train.size() + split.test.size() == images.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::view_of(data, size);
  const File file(bytes);
  const std::string path = file.path();
  read(path, [&] { check_images(path, bytes); });
  read(path, [&] { check_labels(path, bytes); });
  read(path, [&] { check_digits(path); });
  return 0;
}
