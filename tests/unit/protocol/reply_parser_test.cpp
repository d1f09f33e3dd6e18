#include "rendezvous/protocol/reply_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "rendezvous/protocol/little_endian.h"

namespace ddprun::protocol {
namespace {

std::string number(std::int64_t value) {
  std::string bytes;
  store(bytes, value);
  return bytes;
}

std::string text(const std::string& value) {
  return number(static_cast<std::int64_t>(value.size())) + value;
}

// Feeds `bytes` one by one, then whole: both must give the same reply and leave the same rest.
Reply parse(Operation operation, const std::string& bytes, std::uint64_t keys = 1) {
  ReplyParser slow(operation, keys);
  std::size_t taken = 0;
  for (const char byte : bytes) taken += slow.feed({&byte, 1});
  ReplyParser parser(operation, keys);
  EXPECT_EQ(parser.feed(bytes), taken);
  EXPECT_TRUE(parser.complete() && slow.complete());
  EXPECT_EQ(parser.reply().values, slow.reply().values);
  EXPECT_EQ(parser.reply().number, slow.reply().number);
  return parser.reply();
}

using Texts = std::vector<std::string>;

TEST(ReplyParser, ReadsEachKindOfReplyAndNothingBehindIt) {
  EXPECT_EQ(parse(Operation::kAdd, number(-5) + "rest").number, -5);
  EXPECT_EQ(parse(Operation::kCheck, "\x01rest").code, kNotReady);
  EXPECT_EQ(parse(Operation::kPing, "\x04\x03\x02\x01rest").word, 0x01020304u);
  EXPECT_EQ(parse(Operation::kGet, text("value") + "rest").values, Texts{"value"});
  EXPECT_EQ(parse(Operation::kCompareSet, text("")).values, Texts{""});
  EXPECT_EQ(parse(Operation::kMultiGet, text("a") + text("") + text("c"), 3).values,
            (Texts{"a", "", "c"}));
  EXPECT_EQ(parse(Operation::kListKeys, number(2) + text("init/") + text("/k")).values,
            (Texts{"init/", "/k"}));
  EXPECT_EQ(parse(Operation::kListKeys, number(0) + "rest").values, Texts{});
  EXPECT_EQ(parse(Operation::kQueuePop, number(0) + "rest").values, Texts{});
  EXPECT_EQ(parse(Operation::kQueuePop, number(2) + text("item") + "rest").values, Texts{"item"});
}

TEST(ReplyParser, AMultiGetOfNothingIsCompleteAtOnce) {
  ReplyParser parser(Operation::kMultiGet, 0);
  EXPECT_TRUE(parser.complete());
  EXPECT_EQ(parser.feed("x"), 0u);
}

TEST(ReplyParser, RefusesANegativeCountOfKeys) {
  ReplyParser parser(Operation::kListKeys);
  parser.feed(number(-1));
  EXPECT_TRUE(parser.failed());
  EXPECT_FALSE(parser.complete());
}

TEST(ReplyParser, AnAnnouncedLengthTakesNoMemory) {
  ReplyParser parser(Operation::kGet);
  parser.feed(number(std::int64_t{1} << 60) + "abc");
  EXPECT_FALSE(parser.complete());
  EXPECT_LT(parser.reply().values.front().capacity(), 100u);
}

}  // namespace
}  // namespace ddprun::protocol
