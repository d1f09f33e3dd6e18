#include "ddp/value.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>

#include "ddp/error.h"
#include "tests/unit/checkpoint/error_of.h"

namespace ddp {
namespace {

using detail::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> keys_of(const Dict& dict) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : dict) keys.push_back(key.repr());
  return keys;
}

TEST(Value, HoldsEachKind) {
  EXPECT_TRUE(Value().is_none());
  EXPECT_TRUE(Value(nullptr).is_none());
  EXPECT_TRUE(Value(true).to_bool());
  EXPECT_EQ(Value(-7).to_int(), -7);
  EXPECT_EQ(Value(std::size_t{7}).to_int(), 7);
  EXPECT_EQ(Value(0.5f).to_double(), 0.5);
  EXPECT_EQ(Value("text").str(), "text");
  EXPECT_EQ(Value(at::ones({3})).tensor().numel(), 3);
  EXPECT_EQ(Value(List{1, "a", 2.0}).list().size(), 3u);
  EXPECT_EQ(Value(Tuple{{1, 2}}).tuple()[1].to_int(), 2);
  EXPECT_EQ(Value(Dict{{"a", 1}}).dict().size(), 1u);
}

TEST(Value, NumbersAreReadAsFloatsToo) {
  EXPECT_EQ(Value(3).to_double(), 3.0);
  EXPECT_EQ(Value(at::scalar_tensor(2.5)).to_double(), 2.5);
  EXPECT_THAT(error_of([] { Value(at::ones({2})).to_double(); }), HasSubstr("found Tensor"));
}

TEST(Value, SaysWhatItIsInstead) {
  EXPECT_THAT(error_of([] { Value("x").to_int(); }),
              HasSubstr("expected a value of the type int, found str"));
  EXPECT_THAT(error_of([] { Value(1).dict(); }), HasSubstr("expected a value of the type dict"));
  EXPECT_THAT(error_of([] { Value(true).to_int(); }), HasSubstr("found bool"));
  EXPECT_THAT(error_of([] { Value(List{}).tuple(); }), HasSubstr("found list"));
}

TEST(Value, RefusesAnIntegerThatPythonWouldReadAsANegativeOne) {
  EXPECT_EQ(Value(std::uint64_t{INT64_MAX}).to_int(), INT64_MAX);
  EXPECT_THAT(error_of([] { (void)Value(std::uint64_t{1} << 63); }),
              HasSubstr("cannot be the integer 9223372036854775808"));
  EXPECT_THAT(error_of([] { (void)Key(std::uint64_t{1} << 63); }),
              HasSubstr("cannot be the integer 9223372036854775808"));
}

TEST(Dict, KeepsTheOrder) {
  Dict dict{{"z", 1}, {"a", 2}, {3, 3}};
  dict["m"] = 4;
  dict["a"] = 5;
  EXPECT_THAT(keys_of(dict), ElementsAre("'z'", "'a'", "3", "'m'"));
  EXPECT_EQ(dict["a"].to_int(), 5);
  EXPECT_TRUE(dict.erase("z"));
  EXPECT_FALSE(dict.erase("z"));
  EXPECT_THAT(keys_of(dict), ElementsAre("'a'", "3", "'m'"));
  EXPECT_EQ(dict["m"].to_int(), 4);
}

TEST(Dict, TextAndNumberAreTwoKeys) {
  Dict dict{{1, "number"}, {"1", "text"}};
  EXPECT_EQ(dict.at(1).str(), "number");
  EXPECT_EQ(dict.at("1").str(), "text");
  EXPECT_EQ(dict.begin()->first.number(), 1);
  EXPECT_THAT(error_of([&] { dict.begin()->first.str(); }), HasSubstr("found 1"));
}

TEST(Dict, NestsAsItIsWrittenTo) {
  Dict dict;
  dict["model"]["a"]["b"] = 1;
  EXPECT_EQ(dict["model"]["a"]["b"].to_int(), 1);
  Dict copy = dict;
  copy["model"]["a"]["b"] = 2;
  EXPECT_EQ(dict["model"]["a"]["b"].to_int(), 1);
}

TEST(Dict, NamesTheKeysThatThereAre) {
  const Dict dict{{"epoch", 1}, {"model", Dict()}};
  EXPECT_THAT(error_of([&] { dict["modle"]; }),
              HasSubstr("there is no 'modle'; the keys are 'epoch', 'model'"));
  Dict many;
  for (int i = 0; i < 15; ++i) many[i] = i;
  EXPECT_THAT(error_of([&] { many.at("x"); }), HasSubstr("8, 9 and 5 more"));
  EXPECT_THAT(error_of([&] { Dict().at("x"); }), HasSubstr("the keys are none"));
}

}  // namespace
}  // namespace ddp
