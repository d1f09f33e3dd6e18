// A folder that goes with the test.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temporary_folder.h"

namespace ddprun::output {

class FolderTest : public ::testing::Test {
 protected:
  const test::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

}  // namespace ddprun::output
