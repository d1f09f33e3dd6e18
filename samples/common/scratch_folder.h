// A folder through which the processes of a sample pass files.
#pragma once

#include <filesystem>
#include <string>

namespace samples {

// New and empty, in the system's folder for temporary files. The destructor removes it with all
// that is in it. Throws std::runtime_error if it cannot be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // The path of a file in it.
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace samples
