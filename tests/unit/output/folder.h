// A folder that goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace ddprun::output {

class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    std::string name = std::filesystem::temp_directory_path() / "ddprun-output-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~FolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string folder_;
};

}  // namespace ddprun::output
