// What the templates of DistributedDataParallel accept, without other ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "ddp/ddp.h"

namespace ddp {

struct OwnOutput {
  at::Tensor logits;
  at::Tensor hidden;
  int steps = 0;
};
std::vector<at::Tensor*> ddp_tensors(OwnOutput& output) {
  return {&output.logits, &output.hidden};
}

namespace {

template <class T>
std::vector<at::Tensor*> tensors_of(T& value) {
  std::vector<at::Tensor*> found;
  detail::OutputTensors<T>::append(value, found);
  return found;
}

TEST(ModuleOutput, ATensorIsItself) {
  at::Tensor tensor = torch::ones({1});
  EXPECT_EQ(tensors_of(tensor), std::vector{&tensor});
}

TEST(ModuleOutput, TensorsAreFoundInOrderInWhateverHoldsThem) {
  std::tuple<at::Tensor, std::vector<at::Tensor>, std::optional<at::Tensor>> tuple{
      torch::ones({1}), {torch::ones({2}), torch::ones({3})}, std::nullopt};
  auto& list = std::get<1>(tuple);
  EXPECT_EQ(tensors_of(tuple), (std::vector{&std::get<0>(tuple), &list[0], &list[1]}));
  std::get<2>(tuple) = torch::ones({4});
  EXPECT_EQ(tensors_of(tuple).size(), 4u);

  std::map<std::string, std::pair<at::Tensor, std::array<at::Tensor, 2>>> map;
  map["a"] = {torch::ones({1}), {torch::ones({1}), torch::ones({1})}};
  EXPECT_EQ(tensors_of(map),
            (std::vector{&map["a"].first, &map["a"].second[0], &map["a"].second[1]}));
  std::unordered_map<int, at::Tensor> unordered{{1, torch::ones({1})}};
  EXPECT_EQ(tensors_of(unordered), std::vector{&unordered[1]});
}

TEST(ModuleOutput, AnOwnTypeListsItsTensors) {
  OwnOutput output;
  EXPECT_EQ(tensors_of(output), (std::vector{&output.logits, &output.hidden}));
  static_assert(detail::HoldsTensors<std::vector<OwnOutput>>);
  static_assert(!detail::HoldsTensors<int>);
  static_assert(!detail::HoldsTensors<std::pair<at::Tensor, int>>);
}

struct PlainImpl : torch::nn::Module {
  PlainImpl() : weight(register_parameter("weight", torch::ones({2}))) {}
  OwnOutput forward(const at::Tensor& x, int steps) { return {x * weight, x, steps}; }
  at::Tensor weight;
};
TORCH_MODULE(Plain);

// One rank that is its own world, with a store in this very process as a launcher would host it.
class OneRank : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", std::to_string(store_->getPort()).c_str(), 1);
    setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1);
    init_process_group("gloo", {.rank = 0, .world_size = 1});
  }
  void TearDown() override { destroy_process_group(); }

 private:
  static c10::intrusive_ptr<c10d::TCPStore> host_store() {
    c10d::TCPStoreOptions options;
    options.port = 0;
    options.isServer = true;
    options.waitWorkers = false;
    return c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  }

  c10::intrusive_ptr<c10d::TCPStore> store_ = host_store();
};

TEST_F(OneRank, AModuleMayBeAHolderASharedPointerOrAValue) {
  DistributedDataParallel<Plain> of_holder(Plain{}, {.device = c10::Device("cpu")});
  DistributedDataParallel of_pointer(std::make_shared<PlainImpl>());
  DistributedDataParallel<PlainImpl> of_value(PlainImpl{}, {.find_unused_parameters = true});
  const at::Tensor x = torch::full({2}, 3.0);
  EXPECT_EQ(of_holder(x, 4).steps, 4);
  of_pointer->forward(x, 1).logits.sum().backward();
  EXPECT_TRUE(torch::equal(of_pointer.module().weight.grad(), x));
  of_value(x, 1).logits.sum().backward();
  EXPECT_TRUE(torch::equal(of_value->parameters().at(0).grad(), x));
  EXPECT_EQ(of_value.named_parameters().front().key(), "weight");
}

TEST_F(OneRank, NoModuleIsAnErrorOfOurs) {
  const char* text = "[rank 0] DistributedDataParallel: there is no module";
  const auto from_pointer = [] { DistributedDataParallel model(std::shared_ptr<PlainImpl>{}); };
  const auto from_holder = [] { DistributedDataParallel<Plain> model(Plain{nullptr}); };
  EXPECT_THAT(from_pointer, testing::ThrowsMessage<Error>(testing::StartsWith(text)));
  EXPECT_THAT(from_holder, testing::ThrowsMessage<Error>(testing::StartsWith(text)));
}

TEST_F(OneRank, CopiesAreTheSameModule) {
  DistributedDataParallel<Plain> model(Plain{});
  auto copy = model;
  copy->eval();
  EXPECT_FALSE(model->is_training());
  EXPECT_EQ(&copy.module(), &model.module());
}

TEST_F(OneRank, TheTypeOfTheModuleNeedNotBeWritten) {
  const Plain net;
  DistributedDataParallel of_holder(net);
  const DistributedDataParallel with_options(net, {.find_unused_parameters = true});
  const DistributedDataParallel of_pointer(net.ptr(), {.broadcast_buffers = false});
  static_assert(std::is_same_v<decltype(of_holder), DistributedDataParallel<Plain>>);
  EXPECT_EQ(&of_holder.module(), &of_pointer.module());
}

TEST_F(OneRank, ASharedParameterIsReducedOnce) {
  torch::nn::Sequential twice;
  const torch::nn::Linear layer(2, 2);
  twice->push_back("first", layer);
  twice->push_back("second", layer);
  DistributedDataParallel<torch::nn::Sequential> model(twice);
  for (int step = 0; step < 2; ++step) model(torch::ones({1, 2})).sum().backward();
  EXPECT_TRUE(layer->weight.grad().defined());
}

}  // namespace
}  // namespace ddp
