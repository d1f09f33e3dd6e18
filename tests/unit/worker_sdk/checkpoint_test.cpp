#include "ddp/checkpoint.h"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <filesystem>
#include <fstream>

#include "ddp/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/checkpoint/error_of.h"

namespace ddp {
namespace {

using detail::test::error_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(2, 3));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(3));
  torch::Tensor scale = register_parameter("scale", torch::ones({1}));
  torch::Tensor offset = register_buffer("offset", torch::zeros({1}));
  torch::nn::BatchNorm1d bare = register_module(
      "bare", torch::nn::BatchNorm1d(torch::nn::BatchNorm1dOptions(2).affine(false)));
};
TORCH_MODULE(Net);

std::vector<std::string> keys_of(const Dict& dict) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : dict) keys.push_back(key.str());
  return keys;
}

class Checkpoint : public testing::Test {
 protected:
  Value saved_and_loaded(const Value& value) const {
    save(path, value);
    return load(path);
  }

  const ddprun::test::TemporaryFolder temporary;
  const std::string folder = temporary.path(), path = folder + "/model.pt";
};

TEST_F(Checkpoint, TensorsThatShareMemoryStillDo) {
  const auto base = torch::arange(6.0);
  const Value copy = saved_and_loaded(Dict{{"base", base}, {"part", base.slice(0, 2, 4)}});
  EXPECT_TRUE(copy["part"].tensor().equal(torch::tensor({2.0, 3.0}, torch::kFloat)));
  copy["base"].tensor()[3] = -1;
  EXPECT_EQ(copy["part"].tensor()[1].item<float>(), -1);
}

TEST_F(Checkpoint, AnythingMayBeTheWhole) {
  EXPECT_EQ(saved_and_loaded(List{1, "two", nullptr}).list()[1].str(), "two");
  EXPECT_TRUE(saved_and_loaded(torch::ones({2})).tensor().equal(torch::ones({2})));
  EXPECT_TRUE(saved_and_loaded(at::Tensor()).is_none());
}

// Other values of a bool would be undefined behaviour.
TEST_F(Checkpoint, BoolsAreZeroOrOne) {
  const auto bytes = torch::tensor({0, 2, 255}, torch::kByte);
  const auto bools = torch::empty({0}, torch::kBool).set_(bytes.storage(), 0, {3}, {1});
  const Value copy = saved_and_loaded(bools);
  EXPECT_TRUE(copy.tensor().view(torch::kByte).equal(torch::tensor({0, 1, 1}, torch::kByte)));
}

TEST_F(Checkpoint, WhatCannotBeSavedIsNamedAndTheOldFileStays) {
  save(path, 1);
  const auto refused = [&](const Value& value) {
    const std::string error = error_of([&] { save(path, value); });
    EXPECT_EQ(load(path).to_int(), 1);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    return error;
  };
  EXPECT_THAT(refused(Dict{{"a", List{0, torch::ones({2, 2}).to_sparse()}}}),
              HasSubstr("save: " + path + " cannot be written: ['a'][1] is a"));
  const auto number = torch::ones({2});
  EXPECT_THAT(refused(Dict{{"a", number}, {"b", number.view(torch::kInt)}}),
              HasSubstr("['b'] shares its memory with a tensor of another type"));
  EXPECT_THAT(refused("\xff"), HasSubstr("not UTF-8"));
  Value deep;
  for (int i = 0; i < 100; ++i) deep = List{deep};
  EXPECT_THAT(refused(deep), HasSubstr("too deep"));
}

TEST_F(Checkpoint, ErrorsNameThePath) {
  EXPECT_EQ(error_of([&] { load(path); }),
            "load: " + path + " cannot be read: No such file or directory");
  std::ofstream(path) << "hello";
  EXPECT_EQ(error_of([&] { load(path); }), "load: " + path +
                                               " cannot be read: expected a zip file of "
                                               "torch.save, and it begins with 'hello'");
  EXPECT_EQ(error_of([&] { load(""); }), "load: the path is empty");
  EXPECT_EQ(error_of([&] { save("", 1); }), "save: the path is empty");
  EXPECT_EQ(error_of([&] { save(folder + "/missing/x", 1); }),
            "save: " + folder + "/missing/x cannot be written: No such file or directory");
  EXPECT_THAT(error_of([&] { load_safetensors(path); }),
              HasSubstr("load_safetensors: " + path + " cannot be read: expected a safetensors"));
  EXPECT_THAT(error_of([&] {
                save_safetensors(path, Dict{{"a", 1}});
              }),
              HasSubstr("'a' is a int, expected a dense tensor"));
}

TEST_F(Checkpoint, SafetensorsKeepTensorsAndMetadata) {
  const Dict tensors{{"half", torch::ones({3}).to(torch::kHalf)},
                     {"turned", torch::arange(6).reshape({2, 3}).t()}};
  save_safetensors(path, tensors, {{"author", "me"}});
  std::map<std::string, std::string> metadata;
  const Dict copy = load_safetensors(path, torch::kCPU, &metadata);
  EXPECT_EQ(metadata.at("author"), "me");
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_TRUE(copy["half"].tensor().equal(tensors["half"].tensor()));
  EXPECT_TRUE(copy["turned"].tensor().equal(tensors["turned"].tensor()));
}

TEST(StateDict, HasPythonsNamesAndOrder) {
  const Net net;
  EXPECT_THAT(keys_of(state_dict(net)),
              ElementsAre("scale", "offset", "fc.weight", "fc.bias", "norm.weight", "norm.bias",
                          "norm.running_mean", "norm.running_var", "norm.num_batches_tracked",
                          "bare.running_mean", "bare.running_var", "bare.num_batches_tracked"));
  EXPECT_EQ(keys_of(state_dict(net, "module."))[0], "module.scale");
  state_dict(*net)["scale"].tensor().fill_(7);
  EXPECT_EQ(net->scale.item<float>(), 7);
  EXPECT_FALSE(state_dict(net)["scale"].tensor().requires_grad());
}

TEST(StateDict, IsCopiedIntoTheModule) {
  const Net from, to;
  from->scale.detach().fill_(7);
  const auto* before = to->scale.data_ptr();
  load_state_dict(to, state_dict(from));
  EXPECT_TRUE(to->fc->weight.equal(from->fc->weight));
  EXPECT_EQ(to->scale.item<float>(), 7);
  EXPECT_EQ(to->scale.data_ptr(), before);
  EXPECT_TRUE(to->scale.requires_grad());
}

TEST(StateDict, TakesTheWrappersPrefixAway) {
  const Net from, to;
  load_state_dict(to, state_dict(from, "module."));
  EXPECT_TRUE(to->fc->weight.equal(from->fc->weight));
}

TEST(StateDict, ListsEverythingThatDoesNotFitAndChangesNothing) {
  const Net net;
  const auto before = net->norm->weight.clone();
  Dict dict = state_dict(Net());
  dict["norm.weight"].tensor().fill_(9);
  dict.erase("scale");
  dict["extra"] = 1;
  dict["fc.weight"] = torch::ones({3, 4});
  dict["fc.bias"] = "text";
  const std::string error = error_of([&] { load_state_dict(net, dict); });
  EXPECT_THAT(error, HasSubstr("missing: scale; unexpected: extra; of another form: "
                               "'fc.weight' is [3, 4], expected [3, 2], "
                               "'fc.bias' is a str, expected a Tensor"));
  EXPECT_TRUE(net->norm->weight.equal(before));
  // Sizes are never passed over.
  EXPECT_THAT(error_of([&] { load_state_dict(net, dict, false); }), HasSubstr("of another form"));
}

// copy_ would throw in the middle, after what comes before had been changed.
TEST(StateDict, RefusesWhatHasNoPlainValuesBeforeItChangesAnything) {
  const Net net;
  const auto before = net->scale.clone();
  Dict dict = state_dict(Net());
  dict["scale"].tensor().fill_(9);
  dict["fc.weight"] = torch::ones({3, 2}).to_sparse();
  dict["fc.bias"] = torch::empty({3}, torch::kMeta);
  dict["norm.weight"] =
      torch::quantize_per_tensor(torch::ones({3}), /*scale=*/1, /*zero_point=*/0, torch::kQInt8);
  const std::string error = error_of([&] { load_state_dict(net, dict); });
  EXPECT_THAT(error, HasSubstr("'fc.weight' is a sparse tensor, expected a dense one, "
                               "'fc.bias' is a tensor without values, on the device meta, expected "
                               "a dense one, 'norm.weight' is a quantized tensor"));
  EXPECT_TRUE(net->scale.equal(before));
}

TEST(StateDict, RefusesAModuleWhoseElementsShareMemory) {
  const Net net;
  const Dict dict = state_dict(Net());
  net->fc->bias.set_data(torch::ones({1}).expand({3}));
  EXPECT_THAT(
      error_of([&] { load_state_dict(net, dict); }),
      HasSubstr("'fc.bias' cannot be loaded: elements of the module's tensor share memory"));
}

TEST(StateDict, IfNotStrictTellsWhatIsLeftOver) {
  const Net net;
  Dict dict = state_dict(Net());
  dict.erase("scale");
  dict["extra"] = 1;
  const StateDictResult result = load_state_dict(net, dict, false);
  EXPECT_THAT(result.missing_keys, ElementsAre("scale"));
  EXPECT_THAT(result.unexpected_keys, ElementsAre("extra"));
}

TEST(OptimizerState, IsNotSharedWithWhatWasLoaded) {
  const auto parameter = torch::ones({2}).requires_grad_();
  torch::optim::SGD from({parameter}, torch::optim::SGDOptions(0.1).momentum(0.9));
  parameter.sum().backward();
  from.step();
  const Dict state = optimizer_state(from);
  torch::optim::SGD to({parameter}, torch::optim::SGDOptions(1));
  load_optimizer_state(to, state);
  to.step();
  EXPECT_TRUE(state["state"][0]["momentum_buffer"].tensor().equal(torch::ones({2})));
  EXPECT_EQ(to.param_groups()[0].options().get_lr(), 0.1);
}

TEST(OptimizerState, RefusesOthersByNameAndChangesNothing) {
  const auto parameter = torch::ones({2}).requires_grad_();
  torch::optim::RMSprop other({parameter});
  EXPECT_THAT(error_of([&] { optimizer_state(other); }), HasSubstr("expected SGD, Adam or AdamW"));
  EXPECT_THAT(error_of([&] { load_optimizer_state(other, Dict()); }), HasSubstr("'param_groups'"));
  torch::optim::Adam adam({parameter}, torch::optim::AdamOptions(0.5));
  Dict state = optimizer_state(adam);
  state["param_groups"].list()[0]["lr"] = 7;
  state["state"][0] = Dict{{"step", -1}};
  EXPECT_THAT(error_of([&] { load_optimizer_state(adam, state); }),
              HasSubstr("state[0]['step'] is -1.000000, expected a number of steps; state[0] has "
                        "no 'exp_avg'"));
  EXPECT_EQ(adam.param_groups()[0].options().get_lr(), 0.5);
  EXPECT_TRUE(adam.state().empty());
}

TEST(OptimizerState, RefusesBetasThatAreNoNumbers) {
  const auto parameter = torch::ones({2}).requires_grad_();
  torch::optim::Adam adam({parameter}, torch::optim::AdamOptions(0.5));
  Dict state = optimizer_state(adam);
  state["param_groups"].list()[0]["betas"] = Tuple{{0.9, "0.999"}};
  state["param_groups"].list()[0]["eps"] = "small";
  EXPECT_THAT(error_of([&] { load_optimizer_state(adam, state); }),
              AllOf(HasSubstr("load_optimizer_state"), HasSubstr("['eps']"),
                    HasSubstr("['betas'] is not two numbers")));
}

TEST(OptimizerState, RefusesASparseTensorByName) {
  const auto parameter = torch::ones({2}).requires_grad_();
  torch::optim::SGD sgd({parameter}, torch::optim::SGDOptions(0.1).momentum(0.9));
  parameter.sum().backward();
  sgd.step();
  Dict state = optimizer_state(sgd);
  state["state"][0]["momentum_buffer"] = torch::ones({2}).to_sparse();
  state["param_groups"].list()[0]["lr"] = 7;
  EXPECT_THAT(error_of([&] { load_optimizer_state(sgd, state); }),
              HasSubstr("state[0]['momentum_buffer'] is a sparse tensor, expected a dense one"));
  EXPECT_EQ(sgd.param_groups()[0].options().get_lr(), 0.1);
}

}  // namespace
}  // namespace ddp
