#include "worker_sdk/src/error_file.h"

#include <gmock/gmock.h>

namespace ddp::detail {
namespace {

TEST(ErrorFile, HasPyTorchsForm) {
  EXPECT_EQ(error_json("ddp::Error: it \"failed\"\n", "stack", 1700000000),
            R"({"message": {"message": "ddp::Error: it \"failed\"\u000a", "extraInfo": )"
            R"({"py_callstack": "stack", "timestamp": "1700000000"}}})");
}

TEST(ErrorFile, NamesTheRanksThatDidNotCome) {
  EXPECT_THAT(error_json("late", "", 1, {2, 5}),
              testing::HasSubstr("\"timestamp\": \"1\", \"waited_for\": [2, 5]}"));
}

TEST(ErrorFile, IsUtf8WhateverTheTextIs) {
  EXPECT_THAT(error_json("é", "\xff\x80z", 1), testing::HasSubstr("\"é\""));
  EXPECT_THAT(error_json("é", "\xff\x80z", 1), testing::HasSubstr("\"??z\""));
}

TEST(ErrorFile, SaysWhyItCannotBeWritten) {
  EXPECT_THAT(write_error_file("/nonexistent/error.json", "{}"),
              testing::HasSubstr("/nonexistent/error.json"));
}

}  // namespace
}  // namespace ddp::detail
