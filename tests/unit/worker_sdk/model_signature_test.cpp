#include "worker_sdk/src/model_signature.h"

#include <gtest/gtest.h>

namespace ddp::detail {
namespace {

using Model = std::vector<TensorSignature>;

const Model kModel = {{"fc.weight", "Float [2, 4]"}, {"fc.bias", "Float [2]"}};

TEST(ModelSignature, NamesDoNotCount) {
  const Model renamed = {{"0.weight", "Float [2, 4]"}, {"0.bias", "Float [2]"}};
  EXPECT_EQ(fingerprint(kModel), fingerprint(renamed));
  EXPECT_EQ(first_difference({encode(kModel), encode(renamed)}, {0, 1}), std::nullopt);
}

TEST(ModelSignature, ShapesTypesAndOrderCount) {
  EXPECT_NE(fingerprint(kModel),
            fingerprint({{"fc.weight", "Float [4, 2]"}, {"fc.bias", "Float [2]"}}));
  EXPECT_NE(fingerprint(kModel),
            fingerprint({{"fc.weight", "Half [2, 4]"}, {"fc.bias", "Float [2]"}}));
  EXPECT_NE(fingerprint(kModel), fingerprint({kModel[1], kModel[0]}));
  EXPECT_NE(fingerprint(kModel), fingerprint({kModel[0]}));
}

TEST(ModelSignature, TheFirstDifferenceNamesBothRanks) {
  const Model other = {{"fc.weight", "Float [2, 4]"}, {"fc.bias", "Float [3]"}};
  EXPECT_EQ(first_difference({encode(kModel), encode(kModel), encode(other)}, {0, 1, 2}),
            "fc.bias is Float [2] on rank 0 but fc.bias is Float [3] on rank 2");
}

TEST(ModelSignature, GlobalRanksAreNamed) {
  EXPECT_EQ(first_difference({encode(kModel), encode({kModel[0]})}, {3, 5}),
            "rank 3 has 2 parameters and buffers but rank 5 has 1");
}

}  // namespace
}  // namespace ddp::detail
