#include "samples/common/digits_csv.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "samples/common/gzip_file.h"

namespace digits {
namespace {

constexpr std::size_t kPixels = 64;
constexpr int kWhite = 16;
// Forty times what scikit-learn's file unpacks to.
constexpr std::size_t kMaxBytes = 10'000'000;

// The beginning of a text that may hold anything.
std::string excerpt(std::string_view text) {
  std::string shown(text.substr(0, 20));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = '?';
  return shown;
}

class LineReader {
 public:
  LineReader(const GzipFile& file, std::size_t number, std::string_view line)
      : file_(file), where_("line " + std::to_string(number) + ": "), rest_(line) {}

  // The next number of the line; it must be followed by `end`: a comma, or 0 for the end of the
  // line.
  std::uint8_t next(int largest, char end) {
    const std::string_view field = rest_.substr(0, rest_.find(','));
    int number = -1;
    const auto parsed = std::from_chars(field.data(), field.data() + field.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != field.data() + field.size() || number < 0 ||
        number > largest) {
      fail("expected a number from 0 to " + std::to_string(largest) + ", found '" + excerpt(field) +
           "'");
    }
    rest_.remove_prefix(field.size());
    if ((rest_.empty() ? '\0' : rest_[0]) != end) {
      fail("expected " + std::to_string(kPixels) + " pixels and a digit, found " +
           (rest_.empty() ? "fewer" : "more") + " numbers");
    }
    if (end == ',') rest_.remove_prefix(1);
    return static_cast<std::uint8_t>(number);
  }

 private:
  [[noreturn]] void fail(const std::string& text) const { file_.fail(where_ + text); }

  const GzipFile& file_;
  std::string where_;
  std::string_view rest_;
};

}  // namespace

LabeledImages read_digits_csv(const std::string& path) {
  GzipFile file(path);
  const auto bytes = file.read(kMaxBytes + 1);
  if (bytes.size() > kMaxBytes) file.fail("expected at most 10 MB of text, found more");
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  LabeledImages images{8, 8, kWhite, {}, {}};
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    LineReader reader(file, number, line);
    for (std::size_t i = 0; i < kPixels; ++i) images.pixels.push_back(reader.next(kWhite, ','));
    images.labels.push_back(reader.next(9, '\0'));
  }
  if (images.size() == 0) file.fail("expected lines of 64 pixels and a digit, found an empty file");
  return images;
}

std::string default_digits_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const auto path = variable("DIGITS_CSV"); !path.empty()) return path;
  auto cache = variable("XDG_CACHE_HOME");
  if (cache.empty()) cache = variable("HOME") + "/.cache";
  return cache + "/ddprun/digits/digits.csv.gz";
}

Split split_train_test(const LabeledImages& all) {
  Split split;
  for (LabeledImages* part : {&split.train, &split.test}) {
    *part = {all.rows, all.columns, all.white, {}, {}};
  }
  const std::size_t pixels = all.rows * all.columns;
  for (std::size_t i = 0; i < all.size(); ++i) {
    LabeledImages& part = i % 5 == 0 ? split.test : split.train;
    const auto* image = all.pixels.data() + i * pixels;
    part.pixels.insert(part.pixels.end(), image, image + pixels);
    part.labels.push_back(all.labels[i]);
  }
  return split;
}

}  // namespace digits
