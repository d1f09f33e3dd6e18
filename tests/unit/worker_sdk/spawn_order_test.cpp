#include "worker_sdk/src/spawn_order.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/unit/error_of.h"

namespace ddp::detail {
namespace {

using ddprun::test::error_of;
using testing::HasSubstr;

template <class T, class Given>
std::optional<T> passed(const Given& given) {
  return from_spawn_value<T>(to_spawn_value(given));
}

TEST(SpawnOrder, ComesBackAsItWas) {
  const SpawnOrder order{"train",
                         {true, std::int64_t{-1}, std::numeric_limits<std::uint64_t>::max(), 0.1,
                          1.0L / 3, std::string("a\0b", 3), std::string()}};
  const SpawnOrder back = decode(encode(order));
  EXPECT_EQ(back.worker, "train");
  EXPECT_EQ(back.arguments, order.arguments);
}

TEST(SpawnOrder, CutBytesAreRefusedAtEveryPlace) {
  const std::string bytes = encode({"train", {std::string("text"), 0.1}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const SpawnOrder whole{"train", {std::string("text")}};
    if (bytes.substr(0, size) == encode(whole) || bytes.substr(0, size) == encode({"train", {}})) {
      continue;  // whole as well
    }
    EXPECT_THAT(error_of([&] { decode(bytes.substr(0, size)); }), HasSubstr("cut off")) << size;
  }
  EXPECT_THAT(error_of([&] {
                decode(encode({"", {}}) + std::string(8, '\x7f'));
              }),
              HasSubstr("unknown type"));
}

TEST(SpawnValue, IntegersFitWhereTheirValueFits) {
  EXPECT_EQ(passed<std::int8_t>(-128), std::int8_t{-128});
  EXPECT_EQ(passed<std::int8_t>(128), std::nullopt);
  EXPECT_EQ(passed<unsigned>(-1), std::nullopt);
  EXPECT_EQ(passed<std::int64_t>(std::numeric_limits<std::uint64_t>::max()), std::nullopt);
  EXPECT_EQ(passed<std::uint64_t>(std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(passed<char>('x'), 'x');
  EXPECT_EQ(passed<double>(3), 3.0);
  EXPECT_EQ(passed<double>((std::int64_t{1} << 53) + 1), std::nullopt);
}

TEST(SpawnValue, FloatingPointNumbersFitWhereTheyStayTheSame) {
  EXPECT_EQ(passed<double>(0.1f), double{0.1f});
  EXPECT_EQ(passed<float>(0.1), std::nullopt);
  EXPECT_EQ(passed<float>(0.1f), 0.1f);
  EXPECT_EQ(passed<float>(std::numeric_limits<double>::infinity()),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(passed<double>(std::nan("")).value()));
  EXPECT_TRUE(std::signbit(passed<double>(-0.0).value()));
  EXPECT_EQ(passed<double>(1.0L / 3), std::nullopt);
  EXPECT_EQ(passed<int>(1.0), std::nullopt);
}

TEST(SpawnValue, TextsAndTruthAreNoNumbers) {
  EXPECT_EQ(passed<std::string>("text"), "text");
  EXPECT_EQ(passed<std::string>(std::string_view("view")), "view");
  EXPECT_EQ(passed<int>("1"), std::nullopt);
  EXPECT_EQ(passed<std::string>(1), std::nullopt);
  EXPECT_EQ(passed<bool>(1), std::nullopt);
  EXPECT_EQ(passed<int>(true), std::nullopt);
  EXPECT_EQ(passed<bool>(false), false);
}

TEST(SpawnValue, TheFirstArgumentThatDoesNotFitIsSaid) {
  EXPECT_EQ((problem_with<int, float>({std::int64_t{1}, 0.5})), "");
  EXPECT_EQ((problem_with<int, float>({std::int64_t{1}, 0.1})),
            "argument 2: expected a number that float holds exactly (0.1f), found "
            "0.10000000000000001");
  EXPECT_EQ((problem_with<unsigned char>({std::int64_t{-1}})),
            "argument 1: expected a whole number from 0 on of 8 bits, found -1");
  EXPECT_EQ((problem_with<bool>({std::string("yes")})),
            "argument 1: expected true or false, found the text 'yes'");
  EXPECT_EQ((problem_with<>({true})), "expected 0 arguments behind the rank, found 1");
}

std::optional<SpawnTicket> ticket_in(const std::string& text, pid_t parent) {
  return read_ticket([&](const std::string&) { return std::optional(text); }, parent);
}

TEST(SpawnTicket, IsForTheChildOfItsParentOnly) {
  const std::string text = to_text(SpawnTicket{4711, 3, 5, 6});
  const auto ticket = ticket_in(text, 4711);
  ASSERT_TRUE(ticket);
  EXPECT_EQ(ticket->rank, 3);
  EXPECT_EQ(ticket->order_fd, 5);
  EXPECT_EQ(ticket->answer_fd, 6);
  EXPECT_FALSE(ticket_in(text, 4712));
  EXPECT_FALSE(ticket_in("", 0));
  EXPECT_FALSE(ticket_in(text + "x", 4711));
  EXPECT_FALSE(ticket_in("4711 -1 5 6", 4711));
  EXPECT_FALSE(ticket_in("4711 3 -5 6", 4711));
}

TEST(SpawnReason, ComesBackAsItWas) {
  const auto reason = read_reason(to_text(SpawnReason{123, "a b\nc"}));
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->at, 123);
  EXPECT_EQ(reason->text, "a b\nc");
  EXPECT_FALSE(read_reason("F"));
  EXPECT_FALSE(read_reason(""));
}

}  // namespace
}  // namespace ddp::detail
