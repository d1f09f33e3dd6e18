#include "launcher/report/error_file.h"

#include <gmock/gmock.h>

namespace ddprun::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ErrorFile, ReadsWhatPyTorchsRecordWrites) {
  const ErrorFile file = parse_error_file(
      R"({"message": {"message": "RuntimeError: boom\nsecond line", "extraInfo": )"
      R"({"py_callstack": "Traceback (most recent call last):\n  File \"a.py\"\n", "timestamp": "1700000000"}}})");
  EXPECT_THAT(file.message, ElementsAre("RuntimeError: boom", "second line"));
  EXPECT_THAT(file.callstack, ElementsAre("Traceback (most recent call last):", "  File \"a.py\""));
  EXPECT_EQ(file.remark, "");
}

TEST(ErrorFile, ReadsAPlainMessage) {
  EXPECT_THAT(parse_error_file(R"({"message": "no such host"})").message,
              ElementsAre("no such host"));
}

TEST(ErrorFile, ReadsWhomTheSdkWaitedFor) {
  const auto waited_for = [](const std::string& list) {
    return parse_error_file(R"({"message": {"message": "late", "extraInfo": {"waited_for": )" +
                            list + "}}}")
        .waited_for;
  };
  EXPECT_THAT(waited_for("[2, 5]"), ElementsAre(2, 5));
  for (const char* strange :
       {"[]", "3", "null", "[\"x\", -1, 99999999999, [1], 1.5]", "{\"a\": 1}"})
    EXPECT_THAT(waited_for(strange), IsEmpty()) << strange;
}

TEST(ErrorFile, AnythingElseIsARemark) {
  for (const char* bad : {"{bad", "{\"message\": {\"mess", "\xff", "{} {}"}) {
    const ErrorFile file = parse_error_file(bad);
    EXPECT_THAT(file.message, IsEmpty()) << bad;
    EXPECT_THAT(file.remark, HasSubstr("its error.json is not JSON (")) << bad;
  }
  for (const char* strange : {"[]", "3", "null", "{}", R"({"message": 3})",
                              R"({"message": {"message": []}})", R"({"message": ""})"}) {
    EXPECT_EQ(parse_error_file(strange).remark, "its error.json holds no message") << strange;
  }
}

TEST(ErrorFile, NoneIsNoRemark) {
  const ErrorFile none = parse_error_file("");
  EXPECT_THAT(none.message, IsEmpty());
  EXPECT_EQ(none.remark, "");
}

TEST(ErrorFile, ItsTextIsKept) {
  EXPECT_EQ(parse_error_file("{bad").text, "{bad");
}

TEST(ErrorFile, NestingWithoutEndIsARemark) {
  EXPECT_NE(parse_error_file(std::string(100'000, '[')).remark, "");
}

TEST(ErrorFile, BytesThatAreNoUtf8AreKept) {
  EXPECT_THAT(parse_error_file("{\"message\": \"caf\xe9\"}").message, ElementsAre("caf\xe9"));
}

TEST(WithErrorCode, PutsTheCodeIntoTheMessageOnly) {
  EXPECT_EQ(with_error_code(R"({"message":{"message":"boom"}})", -9),
            R"({"message":{"message":"boom","errorCode":-9}})");
  EXPECT_EQ(with_error_code(
                R"({"message":{"message":"late","extraInfo":{"a":"b","waited_for":[2]}}})", 1),
            R"({"message":{"message":"late","extraInfo":{"a":"b"},"errorCode":1}})");
  for (const char* other : {R"({"message": "plain"})", "{bad", "[]", ""})
    EXPECT_EQ(with_error_code(other, 3), other);
}

}  // namespace
}  // namespace ddprun::report
