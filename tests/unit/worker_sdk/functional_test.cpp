#include "ddp/functional.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include "tests/unit/error_of.h"

namespace ddp::functional {
namespace {

using ddprun::test::error_of;
using testing::HasSubstr;

const std::vector<c10::Device> kTwo(2, c10::Device(c10::kCPU));

TEST(Functional, AllReduceGivesEachTheSum) {
  std::vector<torch::Tensor> tensors{torch::tensor({1., 2.}), torch::tensor({10., 20.}),
                                     torch::tensor({100., 200.})};
  const auto same_memory = tensors[1];
  all_reduce(tensors);
  for (const auto& tensor : tensors) {
    EXPECT_TRUE(torch::equal(tensor, torch::tensor({111., 222.})));
  }
  EXPECT_EQ(same_memory.data_ptr(), tensors[1].data_ptr());
}

TEST(Functional, AllReduceWorksOnParametersAsWell) {
  std::vector<torch::Tensor> leaves{torch::ones({2}).requires_grad_(),
                                    torch::ones({2}).requires_grad_()};
  all_reduce(leaves);
  EXPECT_EQ(leaves[1].sum().item<float>(), 4);
  EXPECT_TRUE(leaves[1].is_leaf());
}

TEST(Functional, DistributeCutsRowsAsChunkDoes) {
  const auto parts = distribute(torch::arange(5).view({5, 1}), kTwo);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_TRUE(torch::equal(parts[0], torch::tensor({{0}, {1}, {2}})));
  EXPECT_TRUE(torch::equal(parts[1], torch::tensor({{3}, {4}})));
  EXPECT_EQ(distribute(torch::ones({1, 3}), kTwo).size(), 1u);
}

TEST(Functional, SplitBatchKeepsInputsAndTargetsTogether) {
  const auto [xs, ys] = split_batch(torch::arange(4), torch::arange(4) * 10, kTwo);
  ASSERT_EQ(xs.size(), 2u);
  ASSERT_EQ(ys.size(), 2u);
  for (std::size_t i = 0; i < xs.size(); ++i) EXPECT_TRUE(torch::equal(xs[i] * 10, ys[i]));
}

TEST(Functional, BroadcastParamsMakesLeavesOfTheirOwn) {
  const std::vector<torch::Tensor> params{torch::ones({2}).requires_grad_(), torch::zeros({1})};
  auto copies = broadcast_params(params, kTwo);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_TRUE(copies[0][0].is_leaf() && copies[0][0].requires_grad());
  EXPECT_FALSE(copies[1][1].requires_grad());
  copies[0][0].sum().backward();
  EXPECT_FALSE(params[0].grad().defined());
  copies[0][1].fill_(7);
  EXPECT_EQ(params[1].item<float>(), 0);
  EXPECT_EQ(copies[1][1].item<float>(), 0);
}

TEST(Functional, MistakesAreSaid) {
  std::vector<torch::Tensor> none, unequal{torch::ones({2}), torch::ones({3})};
  EXPECT_EQ(error_of([&] { all_reduce(none); }),
            "functional::all_reduce: expected at least one tensor, found none");
  EXPECT_EQ(error_of([&] { all_reduce(unequal); }),
            "functional::all_reduce: tensor 1 is Float [3], the first one is Float [2]");
  EXPECT_EQ(error_of([&] { distribute(torch::ones({2}), {}); }),
            "functional::distribute: expected at least one device, found none");
  EXPECT_THAT(error_of([&] { distribute(torch::Tensor(), kTwo); }), HasSubstr("an undefined one"));
  EXPECT_EQ(error_of([&] {
              split_batch(torch::ones({4, 2}), torch::ones({3}), kTwo);
            }),
            "functional::split_batch: expected as many targets as inputs, found 3 and 4");
  EXPECT_EQ(error_of([&] { broadcast_params({}, {}); }),
            "functional::broadcast_params: expected at least one device, found none");
}

}  // namespace
}  // namespace ddp::functional
