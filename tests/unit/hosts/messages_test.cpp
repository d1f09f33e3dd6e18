#include "launcher/hosts/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::hosts {
namespace {

Start some_order() {
  return {.version = "1.2.3",
          .branch = {{3, {.name = "a", .user = "joe", .port = 22, .slots = 8}},
                     {4, {.name = "fd00::1", .port = {}}}},
          .nodes = 9,
          .directory = "/tmp/a b",
          .options = {"--prefix=", "-q"},
          .files = {"--report=r"},
          .command = {"--", "./train", std::string("\0\xff\n", 3)},
          .environment = {"A=\n", "B="},
          .shell_words = {"ssh"},
          .remote_ddprun = "/x",
          .own_path = "/y",
          .patience_ms = 60'000,
          .silence_ms = 7,
          .grace_ms = 30'000,
          .credit = 4096};
}

std::vector<Message> all() {
  return {some_order(),
          Begin{.for_first = true, .for_others = false, .host = "h", .port = 65'535},
          Signal{15},
          Ping{},
          Credit{3, 2, 65'536},
          Hello{7},
          Lines{7, 2, "a\nb\n"},
          Listening{0, "10.0.0.1", 4711},
          Report{3, true, "ddprun: rank 1\n"},
          Ended{3, 143, 15},
          Out{5, false, "the connection was lost"}};
}

// Whatever the pieces in which the bytes arrive.
TEST(Messages, ComeOutAsTheyWentIn) {
  std::string bytes;
  for (const Message& message : all()) bytes += encode(message);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    Decoder decoder;
    std::vector<Message> got;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      decoder.feed(std::string_view(bytes).substr(at, piece));
      for (auto next = decoder.next(); next && *next; next = decoder.next()) got.push_back(**next);
    }
    EXPECT_EQ(got, all()) << piece;
  }
}

TEST(Messages, AreRefusedWhenCutOrForeign) {
  const std::string bytes = encode(some_order());
  for (std::size_t size = 5; size < bytes.size(); size += 3) {
    std::string cut = bytes.substr(0, size);
    cut[0] = cut[1] = 0;
    cut[2] = static_cast<char>((size - 4) >> 8);
    cut[3] = static_cast<char>(size - 4);
    Decoder decoder;
    decoder.feed(cut);
    EXPECT_FALSE(decoder.next()) << size;
  }
  for (const char* foreign : {"Welcome to gpu01\n", "\xff\xff\xff\xff", "\0\0\0\0 "}) {
    Decoder decoder;
    decoder.feed(std::string_view(foreign, 5));
    EXPECT_FALSE(decoder.next()) << foreign;
  }
}

// Whatever follows there.
TEST(Messages, TellTheVersionOfAnOrderThatCannotBeRead) {
  std::string bytes = encode(some_order());
  bytes += "more";
  bytes[3] = static_cast<char>(bytes[3] + 4);
  Decoder decoder;
  decoder.feed(bytes);
  EXPECT_FALSE(decoder.next());
  EXPECT_EQ(decoder.version(), "1.2.3");
}

// A number of elements costs no memory before they are there.
TEST(Messages, DoNotBelieveNumbers) {
  std::string bytes = encode(Hello{1});
  bytes[4] = 0;  // a Start, whose first field would be as long as the number
  Decoder decoder;
  decoder.feed(bytes);
  EXPECT_FALSE(decoder.next());
}

}  // namespace
}  // namespace ddprun::hosts
