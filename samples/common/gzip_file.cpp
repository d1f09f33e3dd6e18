#include "samples/common/gzip_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace digits {

GzipFile::GzipFile(std::string path) : path_(std::move(path)), file_(nullptr, gzclose) {
  // zlib opens a folder without a word and fails only when it reads.
  if (std::filesystem::is_directory(path_)) fail("expected a file, found a folder");
  errno = 0;
  file_.reset(gzopen(path_.c_str(), "rb"));
  if (!file_) fail(std::string("cannot be opened: ") + std::strerror(errno ? errno : ENOMEM));
}

std::vector<std::uint8_t> GzipFile::read(std::size_t size) {
  constexpr std::size_t kChunk = 1 << 20;
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    const std::size_t wanted = std::min(kChunk, size - before);
    bytes.resize(before + wanted);
    const int found = gzread(file_.get(), bytes.data() + before, static_cast<unsigned>(wanted));
    int error = Z_OK;
    const char* text = gzerror(file_.get(), &error);
    // A gzip stream that ends too early gives what it has and leaves Z_BUF_ERROR behind.
    if (error == Z_BUF_ERROR) fail("the compressed data is cut off; fetch the file again");
    if (error == Z_ERRNO) fail(std::string("cannot be read: ") + std::strerror(errno));
    if (error != Z_OK)
      fail(std::string("the compressed data is damaged (") + text + "); fetch the file again");
    bytes.resize(before + static_cast<std::size_t>(std::max(found, 0)));
    if (static_cast<std::size_t>(std::max(found, 0)) < wanted) break;
  }
  return bytes;
}

void GzipFile::fail(const std::string& text) const {
  throw std::runtime_error(path_ + ": " + text);
}

}  // namespace digits
