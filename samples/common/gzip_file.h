// A file read as it is or, when it is gzip, unpacked on the way: data sets come in both forms.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace digits {

// Every error is a std::runtime_error that begins with the path of the file.
class GzipFile {
 public:
  explicit GzipFile(std::string path);

  // The next `size` bytes, fewer only at the end of the file. Memory grows with what is really
  // there, so a `size` taken from a false header does no harm. Throws when the file is damaged or
  // gzip data is cut off.
  std::vector<std::uint8_t> read(std::size_t size);

  // A std::runtime_error: "PATH: text".
  [[noreturn]] void fail(const std::string& text) const;

 private:
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

}  // namespace digits
