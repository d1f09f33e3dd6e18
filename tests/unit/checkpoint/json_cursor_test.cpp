#include "worker_sdk/src/checkpoint/json_cursor.h"

#include <gmock/gmock.h>

#include "tests/unit/checkpoint/error_of.h"
#include "worker_sdk/src/checkpoint/bad_file.h"

namespace ddp::detail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string string_of(const std::string& json) {
  JsonCursor cursor(json);
  return cursor.string();
}

std::string refused_string(const std::string& json) {
  return error_of([&] { string_of(json); });
}

std::string refused_integer(const std::string& json) {
  return error_of([&] {
    JsonCursor cursor(json);
    cursor.integer();
    cursor.end();
  });
}

TEST(Json, Strings) {
  EXPECT_EQ(string_of(R"( "a\"\\\/\b\f\n\r\té\u00e9\u20AC\ud83d\ude00")"),
            "a\"\\/\b\f\n\r\té\u00e9\u20AC\U0001F600");
  for (const char* wrong : {"", "a", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
                            "\"\n\"", R"("\ud83d")", R"("\ud83da")", R"("\ud83d\u0041")",
                            R"("\ude00")", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\""}) {
    EXPECT_NE(refused_string(wrong), "") << wrong;
  }
}

TEST(Json, WhatIsWrittenIsRead) {
  const std::string text = "a\"b\\c\n\x01 é";
  EXPECT_EQ(json_string(text), "\"a\\\"b\\\\c\\u000a\\u0001 é\"");
  EXPECT_EQ(string_of(json_string(text)), text);
}

TEST(Json, Integers) {
  JsonCursor cursor(" 9223372036854775807 0");
  EXPECT_EQ(cursor.integer(), 9223372036854775807);
  EXPECT_EQ(cursor.integer(), 0);
  for (const char* wrong : {"", "-1", "+1", "01", "1.0", "1e3", "9223372036854775808",
                            "99999999999999999999999", "\"1\"", "true"}) {
    EXPECT_NE(refused_integer(wrong), "") << wrong;
  }
}

TEST(Json, ObjectsAndArrays) {
  JsonCursor cursor(R"({"a": [1, 2], "b": []} )");
  std::vector<std::string> seen;
  cursor.object([&](const std::string& key) {
    seen.push_back(key);
    cursor.array([&] { seen.push_back(std::to_string(cursor.integer())); });
  });
  cursor.end();
  EXPECT_THAT(seen, ElementsAre("a", "1", "2", "b"));
}

TEST(Json, IsStrict) {
  const auto refused = [](const std::string& json) {
    return error_of([&] {
      JsonCursor cursor(json);
      cursor.object([&](const std::string&) { cursor.integer(); });
      cursor.end();
    });
  };
  EXPECT_EQ(refused(R"({"a":1,"b":2})"), "");
  EXPECT_THAT(refused(R"({"a":1,"a":2})"), HasSubstr("'a' twice"));
  EXPECT_THAT(refused(R"({"a":1,})"), HasSubstr("at byte 7: expected '\"', found '}'"));
  for (const char* wrong : {"", "{", R"({"a")", R"({"a":1)", R"({"a" 1})", R"({a:1})",
                            R"({"a":1}x)", R"({"a":1 "b":2})", "[]"}) {
    EXPECT_NE(refused(wrong), "") << wrong;
  }
}

TEST(Text, IsQuotedForTerminals) {
  EXPECT_EQ(in_quotes("a\x1b[2J"), "'a\\x1b[2J'");
  EXPECT_EQ(in_quotes(std::string(200, 'x')).size(), 100 + std::string("''…").size());
}

}  // namespace
}  // namespace ddp::detail::test
