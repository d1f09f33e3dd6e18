#include "samples/common/scratch_folder.h"

#include <stdlib.h>

#include <stdexcept>
#include <system_error>

namespace samples {

ScratchFolder::ScratchFolder() {
  std::string path = std::filesystem::temp_directory_path() / "ddprun_sample_XXXXXX";
  if (!mkdtemp(path.data())) {
    throw std::runtime_error(path + ": this folder for the processes' files could not be made");
  }
  path_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // a destructor must not throw, and the run is over
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace samples
