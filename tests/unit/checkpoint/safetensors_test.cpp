#include "worker_sdk/src/checkpoint/safetensors.h"

#include <gmock/gmock.h>

#include "tests/unit/checkpoint/error_of.h"
#include "worker_sdk/src/checkpoint/little_endian.h"

namespace ddp::detail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file(const std::string& json, std::size_t bytes) {
  return to_little_endian(std::uint64_t{json.size()}) + json + std::string(bytes, 'x');
}

SafetensorsHeader read(const std::string& bytes) {
  MemorySource source(bytes);
  return read_safetensors_header(source);
}

std::string refused(const std::string& bytes) {
  return error_of([&] { read(bytes); });
}

// "NAME":{…} of a float tensor.
std::string member(const std::string& name, const std::string& shape, const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[)" + offsets +
         "]}";
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  std::vector<SafeTensor> tensors{{.name = "double \"é\"", .type = DType::Float64, .sizes = {2, 3}},
                                  {.name = "scalar", .type = DType::BFloat16, .sizes = {}},
                                  {.name = "empty", .type = DType::Int8, .sizes = {0, 5}}};
  const std::string head = write_safetensors_header(tensors, {{"format", "pt"}});
  EXPECT_EQ(head.size() % 8, 0u);
  const SafetensorsHeader header = read(head + std::string(50, 'x'));
  EXPECT_EQ(header.data, head.size());
  EXPECT_THAT(header.metadata, ElementsAre(testing::Pair("format", "pt")));
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "double \"é\"");
  EXPECT_EQ(header.tensors[0].type, DType::Float64);
  EXPECT_THAT(header.tensors[0].sizes, ElementsAre(2, 3));
  EXPECT_EQ(header.tensors[1].begin, 48u);
  EXPECT_EQ(header.tensors[1].end, 50u);
  EXPECT_EQ(header.tensors[2].name, "empty");
}

TEST(Safetensors, TensorsMayStandInAnyOrder) {
  const auto header =
      read(file("{" + member("b", "1", "4,8") + "," + member("a", "1", "0,4") + "}  ", 8));
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(read(file("{}", 0)).tensors.size(), 0u);
}

TEST(Safetensors, RefusesLengthsThatLie) {
  EXPECT_THAT(refused("1234567"), HasSubstr("has only 7 bytes"));
  for (const std::uint64_t length :
       {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1} << 40}) {
    EXPECT_THAT(refused(to_little_endian(length) + "{}"), HasSubstr("the length of its header is"));
  }
}

TEST(Safetensors, RefusesLayoutsThatLie) {
  const std::string a = member("a", "1", "0,4");
  EXPECT_EQ(refused(file("{" + a + "}", 4)), "");
  EXPECT_THAT(refused(file("{" + a + "}", 3)), HasSubstr("it is cut: expected 4 bytes"));
  EXPECT_THAT(refused(file("{" + a + "}", 5)), HasSubstr("bytes follow the last tensor"));
  const auto with = [&](const std::string& other) { return file("{" + a + "," + other + "}", 8); };
  EXPECT_THAT(refused(with(member("b", "1", "0,4"))), HasSubstr("expected at 4"));
  EXPECT_THAT(refused(with(member("b", "1", "2,6"))), HasSubstr("begins at byte 2"));
  EXPECT_THAT(refused(with(member("b", "1", "5,9"))), HasSubstr("expected at 4"));
  EXPECT_THAT(refused(with(member("a", "1", "4,8"))), HasSubstr("'a' twice"));
  EXPECT_THAT(refused(with(member("b", "2", "4,8"))), HasSubstr("has 4 bytes, expected 8"));
  EXPECT_THAT(refused(with(member("b", "1", "8,4"))), HasSubstr("an end behind it"));
  EXPECT_THAT(refused(with(member("b", "1", "4"))), HasSubstr("an end behind it"));
  EXPECT_THAT(refused(with(member("b", "4611686018427387904,4611686018427387904", "4,8"))),
              HasSubstr("too large"));
}

TEST(Safetensors, RefusesForms) {
  const auto with = [](const std::string& members) {
    return refused(file("{\"a\":{" + members + "}}", 4));
  };
  EXPECT_THAT(with(R"("dtype":"F33","shape":[1],"data_offsets":[0,4])"),
              HasSubstr("'a' has the unknown type 'F33'"));
  EXPECT_THAT(with(R"("dtype":"","shape":[1],"data_offsets":[0,4])"), HasSubstr("unknown type"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[1])"), HasSubstr("expected dtype, shape and"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), HasSubstr("integer"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[1.5],"data_offsets":[0,4])"), HasSubstr("expected"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1)"),
              HasSubstr("unknown member 'x'"));
  EXPECT_THAT(refused(file(R"({"__metadata__":{"a":1}})", 0)), HasSubstr("JSON"));
  EXPECT_THAT(refused(file("[]", 0)), HasSubstr("JSON"));
}

TEST(Safetensors, RefusesToWriteWhatItHasNot) {
  const auto refused_to_write = [](std::vector<SafeTensor> tensors) {
    return error_of([&] { write_safetensors_header(tensors, {}); });
  };
  EXPECT_THAT(refused_to_write({{.name = "a", .type = DType::Complex128}}),
              HasSubstr("complex128, which safetensors does not have"));
  EXPECT_THAT(refused_to_write({{.name = "a"}, {.name = "a"}}), HasSubstr("comes twice"));
  EXPECT_THAT(refused_to_write({{.name = "__metadata__"}}), HasSubstr("comes twice"));
  EXPECT_THAT(refused_to_write({{.name = "\xff"}}), HasSubstr("not UTF-8"));
}

}  // namespace
}  // namespace ddp::detail::test
