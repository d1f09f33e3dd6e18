// data_parallel against the plain module, on the CPU.
#include "ddp/data_parallel.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tests/unit/error_of.h"

namespace ddp {
namespace {

using ddprun::test::error_of;
using testing::HasSubstr;

const c10::Device kCpu(c10::kCPU);

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() { NetImpl::reset(); }
  void reset() override {
    first = register_module("first", torch::nn::Linear(4, 6));
    norm = register_module("norm", torch::nn::BatchNorm1d(6));
    last = register_module("last", torch::nn::Linear(6, 2));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    ++calls;
    auto hidden = torch::tanh(first(x));
    return last(normalize ? norm(hidden) : hidden);
  }
  torch::nn::Linear first{nullptr}, last{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  bool normalize = false;
  static inline std::atomic<int> calls{0};
};
TORCH_MODULE(Net);

// Not Cloneable.
struct PlainImpl : torch::nn::Module {
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(4, 2));
  torch::Tensor forward(const torch::Tensor& x) { return layer(x); }
};
TORCH_MODULE(Plain);

// Waits in forward until all of them are there; "met" is whether they came.
struct MeetingImpl : torch::nn::Cloneable<MeetingImpl> {
  void reset() override {}
  torch::Tensor forward(const torch::Tensor& x) {
    std::unique_lock lock(mutex);
    ++there;
    came.notify_all();
    const bool met = came.wait_for(lock, std::chrono::seconds(20), [] { return there == 2; });
    return torch::full_like(x, met ? 1 : 0);
  }
  static inline std::mutex mutex;
  static inline std::condition_variable came;
  static inline int there = 0;
};
TORCH_MODULE(Meeting);

class DataParallel : public testing::Test {
 protected:
  DataParallel() { torch::manual_seed(1); }

  // Parameters' gradients after the sum of squares as loss.
  static std::vector<torch::Tensor> gradients(Net& net, const torch::Tensor& output) {
    net->zero_grad();
    output.pow(2).sum().backward();
    std::vector<torch::Tensor> all;
    for (const auto& parameter : net->parameters()) {
      all.push_back(parameter.grad().defined() ? parameter.grad().clone()
                                               : torch::zeros_like(parameter));
    }
    return all;
  }

  static void expect_close(const std::vector<torch::Tensor>& some,
                           const std::vector<torch::Tensor>& others) {
    ASSERT_EQ(some.size(), others.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_TRUE(torch::allclose(some[i], others[i], 1e-5, 1e-6)) << i;
    }
  }

  Net net;
  torch::Tensor input = torch::randn({10, 4});
};

TEST_F(DataParallel, OutputAndGradientsAreThoseOfThePlainModule) {
  const auto plain = net->forward(input);
  const auto plain_gradients = gradients(net, plain);
  for (const std::size_t count : {1u, 2u, 3u, 4u}) {
    const auto output = data_parallel(net, input, std::vector(count, kCpu));
    EXPECT_TRUE(torch::allclose(output, plain, 1e-5, 1e-6)) << count;
    expect_close(gradients(net, output), plain_gradients);
  }
}

TEST_F(DataParallel, GradientsFlowToTheInputToo) {
  input.requires_grad_();
  const auto of = [&](const torch::Tensor& output) {
    return torch::autograd::grad({output.pow(2).sum()}, {input})[0];
  };
  EXPECT_TRUE(
      torch::allclose(of(data_parallel(net, input, {kCpu, kCpu})), of(net->forward(input))));
}

TEST_F(DataParallel, TrainsLikeThePlainModule) {
  Net twin;
  {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : twin->named_parameters()) {
      parameter.value().copy_(net->named_parameters()[parameter.key()]);
    }
  }
  torch::optim::SGD one(net->parameters(), 0.01), other(twin->parameters(), 0.01);
  for (int step = 0; step < 5; ++step) {
    gradients(net, data_parallel(net, input, {kCpu, kCpu, kCpu}));
    gradients(twin, twin->forward(input));
    one.step();
    other.step();
  }
  expect_close(net->parameters(), twin->parameters());
}

TEST_F(DataParallel, ASmallBatchUsesFewerReplicas) {
  NetImpl::calls = 0;
  const auto output = data_parallel(net, input.slice(0, 0, 2), std::vector(4, kCpu));
  EXPECT_EQ(NetImpl::calls, 2);
  EXPECT_TRUE(torch::allclose(output, net->forward(input.slice(0, 0, 2))));
}

TEST_F(DataParallel, ReplicasComputeAtTheSameTime) {
  MeetingImpl::there = 0;
  const auto met = data_parallel(Meeting(), torch::zeros({2, 1}), {kCpu, kCpu});
  EXPECT_TRUE(torch::equal(met, torch::ones({2, 1})));
}

TEST_F(DataParallel, PartsRunAlongAnotherDimension) {
  torch::nn::Conv1d convolution(torch::nn::Conv1dOptions(3, 2, 1));
  const auto x = torch::randn({5, 3, 8});
  EXPECT_TRUE(torch::allclose(data_parallel(convolution, x, {kCpu, kCpu}, kCpu, 2),
                              convolution->forward(x), 1e-5, 1e-6));
}

TEST_F(DataParallel, BuffersChangeAsTheFirstReplicaChangesThem) {
  net->normalize = true;
  const auto before = net->norm->running_mean.clone();
  data_parallel(net, input, {kCpu, kCpu});
  const auto half = torch::tanh(net->first(input.slice(0, 0, 5)));
  EXPECT_TRUE(
      torch::allclose(net->norm->running_mean, 0.9 * before + 0.1 * half.mean(0), 1e-5, 1e-6));
  EXPECT_EQ(net->norm->num_batches_tracked.item<int>(), 1);
}

TEST_F(DataParallel, FrozenParametersStayFrozen) {
  net->first->weight.set_requires_grad(false);
  data_parallel(net, input, {kCpu, kCpu}).sum().backward();
  EXPECT_FALSE(net->first->weight.grad().defined());
  EXPECT_TRUE(net->last->weight.grad().defined());
}

TEST_F(DataParallel, WithoutGradientsNothingIsRecorded) {
  const torch::NoGradGuard no_grad;
  EXPECT_FALSE(data_parallel(net, input, {kCpu, kCpu}).requires_grad());
}

TEST_F(DataParallel, RandomNumbersAndThreadsAreAsBefore) {
  const int threads = torch::get_num_threads();
  torch::manual_seed(7);
  const auto expected = torch::randn({3});
  torch::manual_seed(7);
  data_parallel(net, input, {kCpu, kCpu});
  EXPECT_TRUE(torch::equal(torch::randn({3}), expected));
  EXPECT_EQ(torch::get_num_threads(), threads);
}

TEST_F(DataParallel, ASharedPointerWillDo) {
  EXPECT_TRUE(torch::allclose(data_parallel(net.ptr(), input, {kCpu, kCpu}), net->forward(input)));
}

TEST_F(DataParallel, MistakesAreSaid) {
  EXPECT_EQ(error_of([&] { data_parallel(net, input, {}); }),
            "data_parallel: expected at least one device, found none");
  EXPECT_THAT(error_of([&] { data_parallel(net, input.slice(0, 0, 0), {kCpu}); }),
              HasSubstr("data_parallel: expected a tensor with at least one row in dimension 0 to "
                        "cut, found Float [0, 4]"));
  EXPECT_THAT(error_of([&] { data_parallel(net, input, {kCpu}, kCpu, 5); }),
              HasSubstr("data_parallel: dim is 5; it must be -2 to 1 for Float ["));
  EXPECT_THAT(error_of([&] { data_parallel(net, input, {kCpu}, kCpu, -3); }),
              HasSubstr("data_parallel: dim is -3; it must be -2 to 1 for Float ["));
  EXPECT_EQ(error_of([&] { data_parallel(net, input, {c10::Device(c10::kMeta)}); }),
            "data_parallel: the module must be on the first device, meta, but its parameter "
            "first.weight is on cpu");
}

TEST_F(DataParallel, AModuleThatCannotBeClonedIsRefusedOnlyWhenItMustBe) {
  Plain plain;
  EXPECT_NO_THROW(data_parallel(plain, input, {kCpu}));
  const std::string text = error_of([&] { data_parallel(plain, input, {kCpu, kCpu}); });
  EXPECT_THAT(text, HasSubstr("data_parallel: a copy of the module"));
  EXPECT_THAT(text, HasSubstr("PlainImpl for cpu failed: "));
  EXPECT_THAT(text, HasSubstr("torch::nn::Cloneable<"));
}

TEST_F(DataParallel, WhatAReplicaThrowsIsThrownWithItsNumber) {
  const std::string text = error_of([&] {
    data_parallel(net, torch::randn({10, 3}), {kCpu, kCpu});
  });
  EXPECT_THAT(text, HasSubstr("data_parallel: replica 0 on cpu failed: "));
}

}  // namespace
}  // namespace ddp
