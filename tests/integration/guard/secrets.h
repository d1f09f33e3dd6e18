// Files with secrets, for one test.
#pragma once

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace ddprun::test {

class Secrets {
 public:
  // A file of this mode that holds `text`; its path.
  std::string file(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << text << "\n";
    ::chmod(path.c_str(), mode);
    return path;
  }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  const TemporaryFolder folder_;
};

}  // namespace ddprun::test
