#include "samples/common/image_source.h"

#include <gtest/gtest.h>

namespace digits {
namespace {

TEST(ImageSource, TablesSayWhichDataItWas) {
  EXPECT_EQ(ImageSource{}.describe({8, 8, 16, {}, {}}),
            "handwritten digits (8x8, enlarged to 28x28)");
  EXPECT_EQ((ImageSource{"fashion", ""}).describe({28, 28, 255, {}, {}}), "fashion (28x28)");
}

}  // namespace
}  // namespace digits
